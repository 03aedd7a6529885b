@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// The pass over one file that results in its count.
struct StatsPass {
  private let file: JournalFile
  private var count: FileCount
  private var reading = PieceReading()
  private var records: UInt32 = 0

  init(_ file: JournalFile, _ fold: StatsFold, by grouping: StatsGrouping?) {
    self.file = file
    count = FileCount(fold, by: grouping)
  }

  /// Returns the figures of what can be read, and the file's error.
  mutating func run(_ reader: inout JournalReader, _ pulse: (UInt64) -> Void) throws(ToolError)
    -> (StatsFold?, FilesOutcome.Finding)
  {
    let pass = try visit(&reader, pulse)
    return (
      count.finished(damagedAt: reading.damage(after: pass)),
      reading.finding(
        after: pass, file, rest: "The figures are from what can be read.",
        before: "The figures are those of the records before it.")
    )
  }

  private mutating func visit(_ reader: inout JournalReader, _ pulse: (UInt64) -> Void)
    throws(ToolError) -> JournalFile.Pass
  {
    let interruption = file.interruption
    return try file.visitPayloads(
      of: &reader, surveysDamageOnly: true, requiresSession: true,
      orDamage: { piece in
        reading.take(piece, fold: { _ in }, interrupt: { count.interrupt($0) })
          && !interruption.isRaised
      },
      { (frame, payload, _) throws(CodecError) in
        records &+= 1
        if records & 1023 == 0 { pulse(frame.offset) }
        return try reading.take(
          payloadAt: JournalPlace(sequence: frame.sequence, offset: frame.offset),
          fold: { () throws(PayloadFold.Failure) in try count.take(frame, payload) },
          interrupt: { count.interrupt($0) }) && !interruption.isRaised
      })
  }
}

/// The count of the payloads of one file.
struct FileCount: Sendable {
  private var fold: StatsFold
  private var payloads = GappedPayloadFold()
  /// The evidence of ends, which needs whole records.
  private var ends: EvidenceFold?
  private let namesVersions: Bool
  // Comparing `ends` with `nil` would copy what it holds.
  private let explainsEnds: Bool

  init(_ fold: StatsFold, by grouping: StatsGrouping?) {
    self.fold = fold
    ends = grouping == .cause ? EvidenceFold() : nil
    namesVersions = grouping == .version
    explainsEnds = grouping == .cause
  }

  mutating func take(_ frame: JournalFrame, _ payload: RawSpan) throws(PayloadFold.Failure) {
    let step = try payloads.apply(
      sequence: frame.sequence, kind: frame.kind, payload: payload)
    if namesVersions, frame.kind == SessionNote.Kind.opened.rawValue {
      let record = try Self.record(frame, payload)
      if case .note(.opened(let opened)) = record.content { fold.open(by: opened.app) }
    }
    fold.count(
      step.outline, sequence: frame.sequence, at: step.time, from: step.before, to: step.after)
    guard explainsEnds else { return }
    let entry = JournalEntry(try Self.record(frame, payload), of: frame)
    do throws(SessionFold.Failure) {
      try ends?.take(entry) { Self.explain($0, &fold) }
    } catch {
      throw .refused(error)
    }
  }

  mutating func interrupt(_ gap: EvidenceGap) {
    payloads.interrupt()
    fold.interrupt()
    ends?.interrupt(gap) { Self.explain($0, &fold) }
  }

  /// Returns the complete count.
  consuming func finished(damagedAt offset: UInt64?) -> StatsFold {
    _ = ends?.finish(damagedAt: offset) { Self.explain($0, &fold) }
    fold.finish()
    return fold
  }

  private static func record(_ frame: JournalFrame, _ payload: RawSpan)
    throws(PayloadFold.Failure) -> SessionRecord
  {
    do throws(CodecError) {
      return try SessionCodec.decode(
        sequence: frame.sequence, kind: frame.kind, payload: payload)
    } catch {
      throw .unreadable(error, sequence: frame.sequence)
    }
  }

  private static func explain(_ evidence: Evidence, _ fold: inout StatsFold) {
    let explanation = Explainer.judge(evidence)
    guard let sequence = explanation.sequence else { return }
    fold.explain(endAt: sequence, cause: explanation.cause.id)
  }
}
