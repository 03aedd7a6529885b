/// Turns what a record holds into a journal's payload and back (`Specs/EventCodec.md`).
///
/// Every payload begins with its time (8 bytes) and the version of its kind's fields (1 byte).
/// Fields are only ever appended, with a higher version: a reader takes the fields that it knows
/// and skips the rest.
public enum SessionCodec {
  /// The highest version of a kind's fields that this library writes and knows whole.
  public static let version: UInt8 = 1

  /// The journal's kind byte and payload for `content` at `time`.
  public static func encode(_ content: SessionRecord.Content, at time: Timestamp)
    -> (kind: UInt8, payload: [UInt8])
  {
    var writer = PayloadWriter()
    writer.write(time)
    switch content {
    case .event(let event):
      writer.write(version)
      writer.write(event)
      return (event.kind.rawValue, writer.bytes)
    case .note(let note):
      writer.write(version)
      writer.write(note)
      return (note.kind.rawValue, writer.bytes)
    case .snapshot(let fold):
      writer.write(version)
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
  mutating func version() throws(CodecError) -> UInt8 {
    let version = try integer(UInt8.self)
    guard version > 0 else { throw .invalid(offset: offset - 1, byte: 0) }
    return version
  }

  /// Only a newer version may have more than we know.
  @inline(__always)
  func finish(_ version: UInt8) throws(CodecError) {
    guard remaining == 0 || version > SessionCodec.version else {
      throw .trailingBytes(offset: offset, count: remaining)
    }
  }
}
