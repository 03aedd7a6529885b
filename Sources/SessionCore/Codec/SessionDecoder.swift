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
