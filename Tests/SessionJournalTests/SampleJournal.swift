import ChildProcesses
import SessionJournal

/// A small journal with every shape of batch: its bytes, and where its batches end.
struct SampleJournal {
  static let batches: [[JournalDraft]] = [
    [draft("alpha")],
    [draft("", kind: 2), draft("thirteen bytes", kind: 0x83), draft("12345678")],
    [draft("the fifth record, somewhat longer")],
  ]

  let bytes: [UInt8]

  /// The offsets after the header and after each batch.
  let boundaries: [Int]

  /// The last sequence of the whole prefix at each boundary.
  static let sequences: [UInt64] = [0, 1, 4, 5, 6]

  /// `closed`: with the watermark that closing leaves.
  init(closed: Bool) throws {
    let scratch = try TemporaryFolder()
    let journal = try Journal.open(at: scratch.journal, options: .fixed)
    var boundaries = [JournalHeader.size]
    for batch in Self.batches {
      _ = try journal.append(batch)
      boundaries.append(try contents(of: scratch.journal).count)
    }
    if closed {
      try journal.close()
      boundaries.append(try contents(of: scratch.journal).count)
    }
    bytes = try contents(of: scratch.journal)
    self.boundaries = boundaries
  }

  /// Two frames of a batch of three, to follow the journal that was not closed.
  var unfinishedBatch: [UInt8] {
    let first = FrameForge(
      sequence: 6, chain: number(bytes, at: boundaries[2]), left: 2,
      payload: Array("unfinished".utf8)
    ).bytes
    return first
      + FrameForge(
        sequence: 7, chain: number(first, at: 0), delta: 2, left: 1, payload: Array("batch".utf8)
      ).bytes
  }

  /// The number of boundaries at or before an offset, less one; −1 inside the header.
  func wholeBatches(at offset: Int) -> Int {
    (boundaries.firstIndex { $0 > offset } ?? boundaries.count) - 1
  }
}

/// The report of a reader about bytes, in the words of the Python reader.
func verdictLine(_ bytes: [UInt8]) -> String {
  do {
    var reader = try JournalReader(bytes: bytes)
    let ending = try reader.ending()
    let totals = reader.totals
    let counts = "\(totals.records) \(totals.watermarks)"
    switch ending {
    case .clean: return "\(counts) clean \(totals.bytes) \(reader.room)"
    case .torn(let tail): return "\(counts) torn \(describe(tail))"
    case .undetermined(let tail): return "\(counts) undetermined \(describe(tail))"
    case .damaged(let damage):
      return "\(counts) damaged \(damage.offset) \(damage.sequence) \(damage.flaw.rawValue)"
    }
  } catch {
    switch error {
    case .empty: return "empty"
    case .notAJournal: return "notAJournal"
    case .headerDamaged: return "headerDamaged"
    case .newerFormat: return "newerFormat"
    case .unknownFeatures: return "unknownFeatures"
    default: return "\(error)"
    }
  }
}

/// The same, with the lost bytes and the readable runs after the whole prefix.
func surveyLine(_ bytes: [UInt8]) -> String {
  var line = verdictLine(bytes)
  do throws(JournalError) {
    var reader = try JournalReader(bytes: bytes)
    let survey = try reader.survey()
    for gap in survey.gaps {
      let first = gap.sequences.map { "\($0.lowerBound)" } ?? "-"
      let last = gap.sequences.map { "\($0.upperBound)" } ?? "-"
      line += " \(gap.offsets.lowerBound) \(gap.offsets.count) \(first) \(last) \(gap.looseFrames)"
    }
    for run in survey.runs {
      line += " \(run.offsets.lowerBound) \(run.offsets.count) \(run.sequences.lowerBound)"
      line += " \(run.sequences.upperBound) \(run.records)"
    }
  } catch {
    // No header, no survey: the verdict names the fault.
  }
  return line
}

private func describe(_ tail: JournalTail) -> String {
  "\(tail.offset) \(tail.sequence) \(tail.bytes) \(tail.flaw.rawValue)"
}
