/// The encoding of records as payloads of a session's journal (`Specs/EventCodec.md`).
///
/// Every payload begins with its time (8 bytes) and the version of its kind's fields (1 byte).
/// Later versions only append fields: a reader decodes the fields that it knows and skips the rest.
/// A record is written with the lowest version that can hold it.
@_spi(Internals) public enum SessionCodec {
  /// The first version of every kind's fields.
  static let firstVersion: UInt8 = 1

  /// The highest version of this kind's fields that this library knows; `nil` for an unknown kind.
  public static func version(ofKind kind: UInt8) -> UInt8? {
    if let note = SessionNote.Kind(rawValue: kind) { return note.version }
    if kind == SessionRecord.snapshotKind { return SessionFold.identityVersion }
    return SessionEvent.Kind(rawValue: kind)?.version
  }

  /// Returns the journal's kind byte and payload for `content` at `time`.
  public static func encode(_ content: SessionRecord.Content, at time: Timestamp)
    -> (kind: UInt8, payload: [UInt8])
  {
    var writer = PayloadWriter()
    writer.write(time)
    switch content {
    case .event(let event):
      writer.write(event.version)
      writer.write(event)
      return (event.kind.rawValue, writer.finished())
    case .note(let note):
      writer.write(note.version)
      writer.write(note)
      return (note.kind.rawValue, writer.finished())
    case .snapshot(let fold):
      writer.write(fold.version)
      writer.write(fold)
      return (SessionRecord.snapshotKind, writer.finished())
    case .unknown(let unknown):
      writer.append(raw: unknown.payload)
      return (unknown.kind, writer.finished())
    }
  }

  /// Decodes the record with this sequence, kind and payload; for many, ``SessionDecoder`` is
  /// faster.
  ///
  /// A kind that is not known becomes `unknown` and keeps its bytes. Throws if the payload of a
  /// known kind cannot be decoded.
  public static func decode(sequence: UInt64, kind: UInt8, payload: RawSpan) throws(CodecError)
    -> SessionRecord
  {
    var decoder = SessionDecoder(known: TextTable())
    return try decoder.decode(sequence: sequence, kind: kind, payload: payload)
  }

  /// Decodes the record with this sequence, kind and payload.
  public static func decode(sequence: UInt64, kind: UInt8, payload: [UInt8]) throws(CodecError)
    -> SessionRecord
  {
    try decode(sequence: sequence, kind: kind, payload: payload.span.bytes)
  }
}

extension PayloadReader {
  @inline(__always)
  package mutating func version() throws(CodecError) -> UInt8 {
    let version = try integer(UInt8.self)
    guard version > 0 else { throw .invalid(offset: offset - 1, byte: 0) }
    return version
  }

  /// Returns whether the version is newer than `known`; throws if an older one has bytes left.
  @inline(__always)
  func finish(
    _ version: UInt8, known: UInt8 = SessionCodec.firstVersion
  ) throws(CodecError) -> Bool {
    let isNewer = version > known
    guard remaining == 0 || isNewer else {
      throw .trailingBytes(offset: offset, count: remaining)
    }
    return isNewer
  }
}

/// Why a payload that passed its checksum cannot be decoded.
///
/// Offsets are in bytes from the start of the payload.
@_spi(Internals) public enum CodecError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The payload ends inside a field.
  case cutShort(offset: Int)
  /// A byte has a value that the field does not allow.
  case invalid(offset: Int, byte: UInt8)
  /// A text is not UTF-8.
  case notUTF8(offset: Int)
  /// Bytes follow the last field, although all fields of that version are known.
  case trailingBytes(offset: Int, count: Int)
  /// A field of a snapshot has a value that no history results in.
  case impossible(offset: Int)

  /// Says what is wrong, and where.
  public var description: String {
    switch self {
    case .cutShort(let offset):
      "the payload ends inside the field at byte \(offset)"
    case .invalid(let offset, let byte):
      "byte \(offset) of the payload is \(byte), which its field does not allow"
    case .notUTF8(let offset):
      "the text at byte \(offset) of the payload is not UTF-8"
    case .trailingBytes(let offset, let count):
      "the last field ends at byte \(offset) of the payload, but \(count) more "
        + (count == 1 ? "byte follows" : "bytes follow")
    case .impossible(let offset):
      "the field at byte \(offset) of the snapshot has a value that no history results in"
    }
  }
}

/// A decoder for the payloads of consecutive records (`Specs/EventCodec.md`).
///
/// Shares texts that journals repeat, such as permissions and names, between records. The results
/// equal those of ``SessionCodec/decode(sequence:kind:payload:)-(UInt64,UInt8,RawSpan)``.
@_spi(Internals) public struct SessionDecoder: Sendable {
  private var known: TextTable

  /// Creates a decoder that shares no texts yet.
  public init() {
    known = TextTable(slots: 256)
  }

  init(known: TextTable) {
    self.known = known
  }

  /// Decodes the record with this sequence, kind and payload.
  ///
  /// A kind that is not known becomes `unknown` and keeps its bytes. Throws if the payload of a
  /// known kind cannot be decoded.
  public mutating func decode(sequence: UInt64, kind: UInt8, payload: RawSpan) throws(CodecError)
    -> SessionRecord
  {
    var reader = PayloadReader(payload)
    guard let event = SessionEvent.Kind(rawValue: kind) else {
      return try decodeOther(sequence: sequence, kind: kind, reader: reader)
    }
    let time = try reader.timestamp()
    let version = try reader.version()
    let content = SessionRecord.Content.event(try reader.event(event, version, &known))
    return SessionRecord(
      sequence: sequence, time: time, content: content,
      hasUnknownFields: try reader.finish(version, known: event.version))
  }

  /// Decodes a record that is no event.
  private func decodeOther(
    sequence: UInt64, kind: UInt8, reader: consuming PayloadReader
  ) throws(CodecError) -> SessionRecord {
    let time = try reader.timestamp()
    let content: SessionRecord.Content
    var isNewer = false
    if let note = SessionNote.Kind(rawValue: kind) {
      let version = try reader.version()
      content = .note(try reader.note(note, version))
      isNewer = try reader.finish(version, known: note.version)
    } else if kind == SessionRecord.snapshotKind {
      let version = try reader.version()
      if OtherLogRecords.kinds.contains(version) {
        // A snapshot of another kind of log.
        content = .unknown(
          SessionRecord.Unknown(kind: kind, payload: [version] + reader.rest()))
      } else {
        content = .snapshot(try reader.fold(through: sequence, version))
        isNewer = try reader.finish(version, known: SessionFold.identityVersion)
      }
    } else {
      content = .unknown(SessionRecord.Unknown(kind: kind, payload: reader.rest()))
    }
    return SessionRecord(
      sequence: sequence, time: time, content: content, hasUnknownFields: isNewer)
  }
}

/// The records of other kinds of logs, which a session's journal never holds
/// (`Specs/EventCodec.md`).
///
/// The core knows the numbers of these records, but not their content. So a session refuses to open
/// such a file.
package enum OtherLogRecords {
  /// The kinds that are reserved for other logs, and the versions of their snapshots.
  ///
  /// Snapshots of all logs have the same kind. Some kinds have no record yet. 0xB8 and above belong
  /// to account lists.
  package static let kinds: ClosedRange<UInt8> = 0xA0...0xBF

  /// Whether a record of this kind and payload belongs to another log, known or not.
  package static func contains(
    kind: UInt8, payload: RawSpan, in kinds: ClosedRange<UInt8> = Self.kinds
  ) -> Bool {
    if kinds.contains(kind) { return true }
    guard kind == SessionRecord.snapshotKind, payload.byteCount > 8 else { return false }
    return kinds.contains(payload.withUnsafeBytes { $0[8] })
  }
}
