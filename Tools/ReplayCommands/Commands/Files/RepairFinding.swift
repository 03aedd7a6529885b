@_spi(Internals) internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// How much of a journal is good, and what follows that.
struct RepairFinding {
  /// Why the journal is not good to its end; `nil` if it is.
  let fault: JournalFault?
  /// The end of the good prefix, after a complete batch, in bytes.
  let end: UInt64
  let size: UInt64
  /// The number of good records, a snapshot included.
  let records: UInt64
  /// The state that the good records fold to.
  let fold: SessionFold
  /// The same for another log; `nil` for a session's journal.
  let other: OtherGate?
  /// The number of readable records after the good ones.
  let readable: UInt64
  /// The sequences between which the readable records are; `nil` if there is none, or they are
  /// unknown.
  let readableSequences: ClosedRange<UInt64>?
  /// The number of other whole frames there, which do not count because their batch is incomplete.
  let looseFrames: UInt64
  /// The sequence of the record that follows the good ones.
  let nextSequence: UInt64
  /// The time of the last readable record before the fault; `nil` if there is none.
  let lastTime: Timestamp?
  /// Whether it is another log, which may hold only records of its own.
  let isOther: Bool
  /// Whether the file must begin with a snapshot, and that cannot be read.
  let lacksSnapshot: Bool

  var dropped: UInt64 { size - end }

  /// The sequence of the last good record.
  var lastSequence: UInt64 { other?.sequence ?? fold.sequence }

  /// Reads a journal from its first record to its end.
  init(_ reader: inout JournalReader) throws(JournalError) {
    var gate = BatchGate()
    var other: OtherGate?
    var isFirst = true
    var next = reader.header.firstSequence
    var lastTime: Timestamp?
    var decoder = SessionDecoder()
    var start = UInt64(JournalHeader.size)
    var found: JournalFault?
    // Records of the open batch, and all records after the first fault.
    var behind = ReadableRecords()
    try reader.visit { frame, payload in
      if isFirst { other = OtherLog(kind: frame.kind, payload: payload).map(OtherGate.init) }
      isFirst = false
      if found == nil {
        gate.endBatch(before: frame.sequence)
        other?.endBatch(before: frame.sequence)
      }
      if found == nil, other?.isBetweenBatches ?? gate.isBetweenBatches {
        (start, next) = (frame.offset, frame.sequence)
        behind = ReadableRecords()
      }
      let place = JournalPlace(sequence: frame.sequence, offset: frame.offset)
      if other != nil {
        let fault = other?.take(frame, payload, isCounted: found == nil)
        if fault == nil { behind.add(1, frame.sequence...frame.sequence) }
        found = found ?? fault
        return true
      }
      do throws(CodecError) {
        let record = try decoder.decode(
          sequence: frame.sequence, kind: frame.kind, payload: payload)
        behind.add(1, frame.sequence...frame.sequence)
        guard found == nil else { return true }
        lastTime = record.time
        do throws(SessionFold.Failure) {
          _ = try gate.take(
            ExportItem(record: record, remainingInBatch: frame.remainingInBatch, payload: []))
        } catch {
          found = JournalFault(error, at: place)
        }
      } catch {
        found = found ?? .undecodable(place, error)
      }
      return true
    }
    let ending = try reader.ending()
    if found == nil {
      behind = ReadableRecords()
      gate.endBatch()
      other?.endBatch()
      next = reader.wholeEnd.sequence
    }
    (nextSequence, self.lastTime) = (next, lastTime)
    fault = found ?? JournalFault(ending)
    end = found == nil ? reader.totals.bytes : start
    size = try reader.size()
    records = other?.records ?? gate.records
    fold = gate.fold
    lacksSnapshot = reader.header.beginsWithSnapshot && records == 0
    self.other = other
    var isOther = other != nil
    if ending != .clean {
      let survey = try reader.survey()
      for run in survey.runs { behind.add(run.records, run.sequences) }
      if let run = survey.runs.first, isFirst {
        // The first record cannot be read, but a later one shows what it is.
        try reader.visit(run) { frame, payload in
          isOther = OtherLog(kind: frame.kind, payload: payload) != nil
          return false
        }
      }
      if let rest = survey.rest, rest.records > 0 { behind.add(rest.records, nil) }
      looseFrames = survey.gaps.reduce(0) { $0 + $1.looseFrames }
    } else {
      looseFrames = 0
    }
    self.isOther = isOther
    readable = behind.count
    readableSequences = behind.sequences
  }

  /// Returns the last record of the repaired journal, which reports the dropped bytes.
  ///
  /// Returns `nil` if none of the dropped bytes can have been acknowledged.
  ///
  /// Without this record, nothing would show that a session may have ended in the dropped bytes. An
  /// app appends the same record when it opens a journal and cuts such a tail off.
  ///
  /// The record has the time of the last record before the fault, because the clock of the repairing
  /// computer may differ. Without such a record it has the time `now`.
  ///
  /// - Requirement: RPL-6
  func mark(orAt now: Timestamp) -> RepairMark? {
    guard needsMark else { return nil }
    return RepairMark(sequence: nextSequence, time: lastTime ?? now, dropped: dropped)
  }

  var needsMark: Bool { fault?.mayHideRecords == true && !isOther }
}

/// The record that `repair` appends to report dropped bytes.
struct RepairMark {
  let record: SessionRecord

  init(sequence: UInt64, time: Timestamp, dropped: UInt64) {
    record = SessionRecord(
      sequence: sequence, time: time,
      content: .note(.tailCut(.init(bytes: dropped, isUndetermined: true))))
  }

  var draft: JournalDraft {
    let (kind, payload) = SessionCodec.encode(record.content, at: record.time)
    return JournalDraft(kind: kind, payload: payload)
  }

  /// Returns the state of the good records with this record after them.
  func applied(to fold: SessionFold) -> SessionFold {
    var fold = fold
    do throws(SessionFold.Failure) {
      try fold.apply(record)
    } catch {
      // A note can follow every state. If it could not, the comparison with the new file would
      // fail.
    }
    return fold
  }
}

/// Accepts another log's records in complete batches, and only records that can follow each other.
struct OtherGate: Equatable {
  /// What the accepted records fold to.
  private(set) var log: OtherLog
  /// The number of accepted records, a snapshot included.
  private(set) var records: UInt64 = 0
  /// The sequence of the last accepted record.
  private(set) var sequence: UInt64 = 0
  private(set) var isBetweenBatches = true
  private var working: OtherLog
  private var open: UInt64 = 0
  private var last: UInt64 = 0

  /// Creates the gate of a log without records.
  init(_ log: OtherLog) {
    self.log = log
    working = log
  }

  /// Accepts the open batch if a watermark ended it.
  mutating func endBatch(before next: UInt64? = nil) {
    guard !isBetweenBatches, next != last + 1 else { return }
    settle(at: last)
  }

  private mutating func settle(at sequence: UInt64) {
    isBetweenBatches = true
    (log, self.sequence) = (working, sequence)
    records += open
    open = 0
  }

  /// Takes the next record; returns the fault if it cannot be accepted.
  ///
  /// After a fault, records are only decoded; `isCounted` is false then.
  mutating func take(_ frame: JournalFrame, _ payload: RawSpan, isCounted: Bool) -> JournalFault? {
    do throws(CodecError) {
      if let fault = try working.take(frame, payload, isApplied: isCounted).fault { return fault }
    } catch {
      return .undecodable(JournalPlace(sequence: frame.sequence, offset: frame.offset), error)
    }
    guard isCounted else { return nil }
    open += 1
    last = frame.sequence
    isBetweenBatches = false
    if frame.remainingInBatch == 0 { settle(at: last) }
    return nil
  }
}

/// The number of readable records in a part of a file, and the sequences between which they are.
private struct ReadableRecords {
  private(set) var count: UInt64 = 0
  private(set) var sequences: ClosedRange<UInt64>?
  private var isPlaced = true

  /// Adds records, whose sequences are in `found`; `nil` if these are unknown.
  mutating func add(_ more: UInt64, _ found: ClosedRange<UInt64>?) {
    guard more > 0 else { return }
    count += more
    isPlaced = isPlaced && found != nil
    guard isPlaced, let found else {
      sequences = nil
      return
    }
    let first = min(sequences?.lowerBound ?? found.lowerBound, found.lowerBound)
    sequences = first...max(sequences?.upperBound ?? found.upperBound, found.upperBound)
  }
}
