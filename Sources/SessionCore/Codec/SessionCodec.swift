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
      return (event.kind.rawValue, writer.bytes)
    case .note(let note):
      writer.write(note.version)
      writer.write(note)
      return (note.kind.rawValue, writer.bytes)
    case .snapshot(let fold):
      writer.write(fold.version)
      writer.write(fold)
      return (SessionRecord.snapshotKind, writer.bytes)
    case .unknown(let unknown):
      writer.append(raw: unknown.payload)
      return (unknown.kind, writer.bytes)
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
