@_spi(Internals) internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionJournal

/// How far a journal is good, and what stands behind that.
struct RepairFinding {
  /// Why it is not good to its end; `nil` where it is.
  let fault: JournalFault?
  /// Where the good prefix ends, behind a whole batch, in bytes.
  let end: UInt64
  let size: UInt64
  /// How many records are good, a snapshot among them.
  let records: UInt64
  /// What they come to.
  let fold: SessionFold
  /// The same of a change log; `nil` of a session's journal.
  let changes: ChangeGate?
  /// How many records behind them can be read.
  let readable: UInt64
  /// The sequences between which these are; nil where there is none, or nobody knows.
  let readableSequences: ClosedRange<UInt64>?
  /// How many frames more are whole there and count nowhere: their batch is not whole.
  let looseFrames: UInt64
  /// The sequence of the record that follows the good ones.
  let nextSequence: UInt64
  /// When the last record was written that can be read before the fault; `nil` for none.
  let lastTime: Timestamp?
  /// Whether it is a change log, in which nothing may stand but changes.
  let isChangeLog: Bool
  /// Whether the file must begin with a snapshot that cannot be read.
  let lacksSnapshot: Bool

  var dropped: UInt64 { size - end }

  /// The sequence of the last good record.
  var lastSequence: UInt64 { changes?.sequence ?? fold.sequence }

  /// Reads a journal from its first record to its end.
  init(_ reader: inout JournalReader) throws(JournalError) {
    var gate = BatchGate()
    var changes: ChangeGate?
    var isFirst = true
    var next = reader.header.firstSequence
    var lastTime: Timestamp?
    var decoder = SessionDecoder()
    var start = UInt64(JournalHeader.size)
    var found: JournalFault?
    // Of the batch that is open, and of all behind the first fault.
    var behind = ReadableRecords()
    try reader.visit { frame, payload in
      if isFirst, ChangeCodec.owns(kind: frame.kind, payload: payload) { changes = ChangeGate() }
      isFirst = false
      if found == nil {
        gate.endBatch(before: frame.sequence)
        changes?.endBatch(before: frame.sequence)
      }
      if found == nil, changes?.isBetweenBatches ?? gate.isBetweenBatches {
        (start, next) = (frame.offset, frame.sequence)
        behind = ReadableRecords()
      }
      let place = JournalPlace(sequence: frame.sequence, offset: frame.offset)
      if changes != nil {
        let fault = changes?.take(frame, payload, isCounted: found == nil)
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
      changes?.endBatch()
      next = reader.wholeEnd.sequence
    }
    (nextSequence, self.lastTime) = (next, lastTime)
    fault = found ?? JournalFault(ending)
    end = found == nil ? reader.totals.bytes : start
    size = try reader.size()
    records = changes?.records ?? gate.records
    fold = gate.fold
    lacksSnapshot = reader.header.beginsWithSnapshot && records == 0
    self.changes = changes
    var isChangeLog = changes != nil
    if ending != .clean {
      let survey = try reader.survey()
      for run in survey.runs { behind.add(run.records, run.sequences) }
      if let run = survey.runs.first, isFirst {
        // Not even the first record can be read: what comes later says whose file it is.
        try reader.visit(run) { frame, payload in
          isChangeLog = ChangeCodec.owns(kind: frame.kind, payload: payload)
          return false
        }
      }
      if let rest = survey.rest, rest.records > 0 { behind.add(rest.records, nil) }
      looseFrames = survey.gaps.reduce(0) { $0 + $1.looseFrames }
    } else {
      looseFrames = 0
    }
    self.isChangeLog = isChangeLog
    readable = behind.count
    readableSequences = behind.sequences
  }

  /// What the repaired journal says at its end of what is dropped; `nil` if nothing of it can have been
  /// acknowledged.
  ///
  /// Without it nothing would tell that a session may have ended in what is dropped. An app
  /// notes the same when it opens a journal and cuts such a tail off.
  ///
  /// It has the time of the last record before the fault. The clock of the computer that repairs may be
  /// another one: `now` is its time, for a journal without such a record.
  ///
  /// - Requirement: RPL-6
  func mark(orAt now: Timestamp) -> RepairMark? {
    guard needsMark else { return nil }
    return RepairMark(sequence: nextSequence, time: lastTime ?? now, dropped: dropped)
  }

  var needsMark: Bool { fault?.mayHideRecords == true && !isChangeLog }
}

/// The last record of a repaired journal.
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

  /// The state of the good records, with it after them.
  func applied(to fold: SessionFold) -> SessionFold {
    var fold = fold
    do throws(SessionFold.Failure) {
      try fold.apply(record)
    } catch {
      // A note follows every state; if not, the comparison with the new file fails.
    }
    return fold
  }
}

/// Lets a change log's records through a batch at a time, and only such as can follow each other.
struct ChangeGate: Equatable {
  /// What those that were let through come to.
  private(set) var queue = ChangeQueue()
  /// How many they are, a snapshot among them.
  private(set) var records: UInt64 = 0
  /// The sequence of the last of them.
  private(set) var sequence: UInt64 = 0
  private(set) var isBetweenBatches = true
  private var working = ChangeQueue()
  private var open: UInt64 = 0
  private var last: UInt64 = 0

  /// Lets the open batch through if a watermark ended it.
  mutating func endBatch(before next: UInt64? = nil) {
    guard !isBetweenBatches, next != last + 1 else { return }
    settle(at: last)
  }

  private mutating func settle(at sequence: UInt64) {
    isBetweenBatches = true
    (queue, self.sequence) = (working, sequence)
    records += open
    open = 0
  }

  /// Takes the next record; why it cannot be let through, where it cannot.
  ///
  /// Behind a fault records are only read (`isCounted` is false then).
  mutating func take(_ frame: JournalFrame, _ payload: RawSpan, isCounted: Bool) -> JournalFault? {
    let place = JournalPlace(sequence: frame.sequence, offset: frame.offset)
    let record: ChangeRecord?
    do throws(CodecError) {
      record = try ChangeCodec.decode(
        sequence: frame.sequence, kind: frame.kind, payload: payload)
    } catch {
      return .undecodable(place, error)
    }
    guard let record else { return .unknownKind(place, frame.kind) }
    guard isCounted else { return nil }
    do throws(ChangeRejection) {
      try working.apply(record)
    } catch {
      return .outOfPlace(place, error)
    }
    open += 1
    last = frame.sequence
    isBetweenBatches = false
    if frame.remainingInBatch == 0 { settle(at: last) }
    return nil
  }
}

/// How many records can be read somewhere, and between which sequences they are.
private struct ReadableRecords {
  private(set) var count: UInt64 = 0
  private(set) var sequences: ClosedRange<UInt64>?
  private var isPlaced = true

  /// More of them, which are among `found`; nil where nobody knows.
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
