internal import SessionCore
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
  /// How many records behind them can be read.
  let readable: UInt64
  /// The sequences between which these are; nil where there is none, or nobody knows.
  let readableSequences: ClosedRange<UInt64>?
  /// How many frames more are whole there and count nowhere: their batch is not whole.
  let looseFrames: UInt64
  /// Whether the file must begin with a snapshot that cannot be read.
  let lacksSnapshot: Bool

  var dropped: UInt64 { size - end }

  /// Reads a journal from its first record to its end.
  init(_ reader: inout JournalReader) throws(JournalError) {
    var gate = BatchGate()
    var decoder = SessionDecoder()
    var start = UInt64(JournalHeader.size)
    var found: JournalFault?
    // Of the batch that is open, and of all behind the first fault.
    var behind = ReadableRecords()
    try reader.visit { frame, payload in
      if found == nil, gate.isBetweenBatches {
        start = frame.offset
        behind = ReadableRecords()
      }
      let place = JournalPlace(sequence: frame.sequence, offset: frame.offset)
      do throws(CodecError) {
        let record = try decoder.decode(
          sequence: frame.sequence, kind: frame.kind, payload: payload)
        behind.add(1, frame.sequence...frame.sequence)
        guard found == nil else { return true }
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
    if found == nil { behind = ReadableRecords() }
    let ending = try reader.ending()
    fault = found ?? JournalFault(ending)
    end = found == nil ? reader.totals.bytes : start
    size = try reader.size()
    records = gate.records
    fold = gate.fold
    lacksSnapshot = reader.header.beginsWithSnapshot && gate.records == 0
    if ending != .clean {
      let survey = try reader.survey()
      for run in survey.runs { behind.add(run.records, run.sequences) }
      if let rest = survey.rest, rest.records > 0 { behind.add(rest.records, nil) }
      looseFrames = survey.gaps.reduce(0) { $0 + $1.looseFrames }
    } else {
      looseFrames = 0
    }
    readable = behind.count
    readableSequences = behind.sequences
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
