@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// The pass over one file that results in its count.
///
/// Of a long file another thread counts the later half.
struct StatsPass {
  private let file: JournalFile
  private let later: LaterHalf<FileCount>?
  private var count: FileCount
  private var reading = PieceReading()
  private var records: UInt32 = 0
  /// Whether the pass ended where the later half begins.
  private var isHalf = false

  init(
    _ file: JournalFile, _ fold: StatsFold, by grouping: StatsGrouping?,
    later: LaterHalf<FileCount>?
  ) {
    self.file = file
    self.later = later
    count = FileCount(fold, by: grouping)
  }

  /// Returns the figures of what can be read, and the file's error.
  mutating func run(_ reader: inout JournalReader, _ pulse: (UInt64) -> Void) throws(ToolError)
    -> (StatsFold?, FilesOutcome.Finding)
  {
    defer { later?.cancel() }
    var pass = try visit(&reader, pulse)
    if isHalf {
      try later?.take { second, reader throws(ToolError) in
        count.add(second)
        reading.goOn(after: second.last)
        // What follows the last record is the same for both halves.
        pass = try visit(&reader, pulse)
      }
    }
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
      { (frame, payload, isBehind) throws(CodecError) in
        if let later, !isBehind, !isHalf, later.begins(with: frame) {
          isHalf = later.isComplete(accepting: { count.isContinued(at: frame, payload, by: $0) })
          if isHalf { return false }
        }
        records &+= 1
        if records & 1023 == 0 { pulse(frame.offset) }
        return try reading.take(
          payloadAt: JournalPlace(sequence: frame.sequence, offset: frame.offset),
          fold: { () throws(PayloadFold.Failure) in try count.take(frame, payload) },
          interrupt: { count.interrupt($0) }) && !interruption.isRaised
      })
  }
}

extension FileCount {
  /// Starts to count the later half of a long file, without groups.
  static func later(of file: JournalFile, _ reader: borrowing JournalReader, above length: UInt64)
    -> LaterHalf<FileCount>?
  {
    file.laterHalf(of: reader, above: length, from: FileCount(StatsFold(by: nil), by: nil)) {
      count, frame, payload in
      do throws(PayloadFold.Failure) {
        try count.take(frame, payload)
        return true
      } catch {
        return false
      }
    }
  }
}

extension GappedPayloadFold {
  /// The fold of all records; `nil` if it cannot be decoded.
  fileprivate var whole: SessionFold? {
    do throws(CodecError) {
      return try fold()
    } catch {
      return nil
    }
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
  /// The fold after the first record; `nil` if it cannot be told.
  private var begin: SessionFold?
  /// The sequence of the last record; 0 before the first.
  private(set) var last: UInt64 = 0

  init(_ fold: StatsFold, by grouping: StatsGrouping?) {
    self.fold = fold
    ends = grouping == .cause ? EvidenceFold() : nil
    namesVersions = grouping == .version
    explainsEnds = grouping == .cause
  }

  mutating func take(_ frame: JournalFrame, _ payload: RawSpan) throws(PayloadFold.Failure) {
    let step = try payloads.apply(
      sequence: frame.sequence, kind: frame.kind, payload: payload)
    if last == 0 { begin = payloads.whole }
    last = frame.sequence
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

  /// Whether the count of the records from this one on can be added: a login, which makes both counts
  /// go on from the same state.
  func isContinued(at frame: JournalFrame, _ payload: RawSpan, by later: FileCount) -> Bool {
    guard fold.isContinued, let begin = later.begin else { return false }
    var payloads = payloads
    do throws(PayloadFold.Failure) {
      _ = try payloads.apply(sequence: frame.sequence, kind: frame.kind, payload: payload)
    } catch {
      return false
    }
    return payloads.whole == begin
  }

  /// Adds the count of the records that follow.
  mutating func add(_ later: FileCount) {
    fold.add(later.fold)
    payloads = later.payloads
    last = later.last
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
