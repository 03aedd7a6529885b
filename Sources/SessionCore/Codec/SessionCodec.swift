/// Turns what a record holds into a journal's payload and back (`Specs/EventCodec.md`).
///
/// Every payload begins with its time (8 bytes) and the version of its kind's fields (1 byte).
/// Fields are only ever appended, with a higher version: a reader takes the fields that it knows
/// and skips the rest. What is written has the lowest version that holds it.
@_spi(Internals) public enum SessionCodec {
  /// The version that every kind's fields began with.
  static let firstVersion: UInt8 = 1

  /// The highest version of this kind's fields that this library knows; `nil` for an unknown kind.
  public static func version(ofKind kind: UInt8) -> UInt8? {
    if let note = SessionNote.Kind(rawValue: kind) { return note.version }
    if kind == SessionRecord.snapshotKind { return SessionFold.identityVersion }
    return SessionEvent.Kind(rawValue: kind)?.version
  }

  /// The journal's kind byte and payload for `content` at `time`.
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

  /// The record with this sequence, kind and payload; of many, a ``SessionDecoder`` is faster.
  ///
  /// A kind without a word here becomes `unknown` and keeps its bytes; throws where a known kind's
  /// payload is not what its kind says.
  public static func decode(sequence: UInt64, kind: UInt8, payload: RawSpan) throws(CodecError)
    -> SessionRecord
  {
    var decoder = SessionDecoder(known: TextTable())
    return try decoder.decode(sequence: sequence, kind: kind, payload: payload)
  }

  /// The record with this sequence, kind and payload.
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

  /// Only a version above the one that is known may have more than we know; whether it is such.
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
