/// Turns a journal's payloads back into records, one after the other (`Specs/EventCodec.md`).
///
/// Remembers texts that journals repeat, permissions and names: a later record shares them. What it
/// decodes is what ``SessionCodec/decode(sequence:kind:payload:)-(UInt64,UInt8,RawSpan)`` decodes.
@_spi(Internals) public struct SessionDecoder: Sendable {
  private var known: TextTable

  /// A decoder that remembers nothing yet.
  public init() {
    known = TextTable(slots: 256)
  }

  init(known: TextTable) {
    self.known = known
  }

  /// The record with this sequence, kind and payload.
  ///
  /// A kind without a word here becomes `unknown` and keeps its bytes; throws where a known kind's
  /// payload is not what its kind says.
  public mutating func decode(sequence: UInt64, kind: UInt8, payload: RawSpan) throws(CodecError)
    -> SessionRecord
  {
    try payload.withUnsafeBytes { (bytes) throws(CodecError) in
      try decode(sequence: sequence, kind: kind, reader: PayloadReader(bytes))
    }
  }

  @inline(__always)
  private mutating func decode(
    sequence: UInt64, kind: UInt8, reader: consuming PayloadReader
  ) throws(CodecError) -> SessionRecord {
    let time = try reader.timestamp()
    let content: SessionRecord.Content
    var isNewer = false
    if let event = SessionEvent.Kind(rawValue: kind) {
      let version = try reader.version()
      content = .event(try reader.event(event, version, &known))
      isNewer = try reader.finish(version, known: event.version)
    } else if let note = SessionNote.Kind(rawValue: kind) {
      let version = try reader.version()
      content = .note(try reader.note(note, version))
      isNewer = try reader.finish(version, known: note.version)
    } else if kind == SessionRecord.snapshotKind {
      let version = try reader.version()
      if OtherLogRecords.snapshotVersions.contains(version) {
        // Of another kind of log, and no session's.
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
