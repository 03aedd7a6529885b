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
  /// How many records behind them can be read, and which.
  private(set) var readable: UInt64 = 0
  private(set) var readableSequences: ClosedRange<UInt64>?
  /// Whether the file must begin with a snapshot that cannot be read.
  let lacksSnapshot: Bool

  var dropped: UInt64 { size - end }

  /// Reads a journal from its first record to its end.
  init(_ reader: inout JournalReader) throws(JournalError) {
    var gate = BatchGate()
    var decoder = SessionDecoder()
    var start = UInt64(JournalHeader.size)
    var found: JournalFault?
    var behind: [UInt64] = []
    var count: UInt64 = 0
    try reader.visit { frame, payload in
      guard found == nil else {
        behind = [behind.first ?? frame.sequence, frame.sequence]
        count += 1
        return true
      }
      if gate.isBetweenBatches { start = frame.offset }
      let place = JournalPlace(sequence: frame.sequence, offset: frame.offset)
      do throws(CodecError) {
        let record = try decoder.decode(
          sequence: frame.sequence, kind: frame.kind, payload: payload)
        do throws(SessionFold.Failure) {
          _ = try gate.take(
            ExportItem(record: record, remainingInBatch: frame.remainingInBatch, payload: []))
        } catch {
          found = JournalFault(error, at: place)
        }
      } catch {
        found = .undecodable(place, error)
      }
      return true
    }
    let ending = try reader.ending()
    fault = found ?? JournalFault(ending)
    end = found == nil ? reader.totals.bytes : start
    size = try reader.size()
    records = gate.records
    fold = gate.fold
    lacksSnapshot = reader.header.beginsWithSnapshot && gate.records == 0
    if ending != .clean {
      let survey = try reader.survey()
      for run in survey.runs {
        count += run.records
        behind = [behind.first ?? run.sequences.lowerBound, run.sequences.upperBound]
      }
      count += survey.rest?.records ?? 0
    }
    readable = count
    if behind.count == 2, behind[0] <= behind[1] { readableSequences = behind[0]...behind[1] }
  }
}
