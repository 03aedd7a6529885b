/// What is readable, and what is lost, behind the whole prefix of a journal
/// (Specs/JournalFormat.md, "Survey").
///
/// Prefix, runs, gaps, room and rest follow each other by place, do not overlap, and cover the file.
public struct JournalSurvey: Equatable, Sendable {
  /// The most runs that are listed; what comes behind them is counted in `rest`.
  public static let listedRuns = 1024

  /// The verdict on the file.
  public let ending: JournalEnding

  /// The whole batches behind the prefix that can be read, by place; their sequences ascend.
  public internal(set) var runs: [ReadableRun] = []

  /// What lies between prefix, runs and the end of the file, by place.
  public internal(set) var gaps: [LostRange] = []

  /// Zeros behind the last batch that is readable, up to the end of the file, in bytes.
  public internal(set) var room: UInt64 = 0

  /// What is not listed; nil mostly.
  public internal(set) var rest: OmittedRuns?
}

/// Whole batches that follow each other, behind bytes that are lost.
public struct ReadableRun: Equatable, Sendable {
  /// Where they stand, in bytes from the beginning of the file.
  public internal(set) var offsets: Range<UInt64>

  /// Their sequences, those of watermarks among them.
  public internal(set) var sequences: ClosedRange<UInt64>

  /// How many records they are, watermarks not counted.
  public internal(set) var records: UInt64

  /// The checksum that the first frame names as that of the frame before it.
  let chain: UInt32
}

/// A part of a file that cannot be read.
public struct LostRange: Equatable, Sendable {
  /// Where it stands, in bytes from the beginning of the file; empty where frames were taken out.
  public let offsets: Range<UInt64>

  /// Which sequences are known to be lost there: nil where none is, or at the end of the file, where
  /// nothing tells how many there were.
  public let sequences: ClosedRange<UInt64>?

  /// How many frames stand there whole that count nowhere: their batch is not whole, or they are of
  /// another past.
  public let looseFrames: UInt64
}

/// What a survey did not list, because there were too many runs or because the file was made to
/// take long.
public struct OmittedRuns: Equatable, Sendable {
  /// Where it stands, in bytes from the beginning of the file.
  public internal(set) var offsets: Range<UInt64>

  /// How many runs were found in it.
  public internal(set) var runs: UInt64 = 0

  /// How many records they are.
  public internal(set) var records: UInt64 = 0

  /// Whether all of it was searched.
  public internal(set) var isSearched = true
}

extension JournalReader {
  /// Says what is lost and what is readable behind the whole prefix; passes over the records that
  /// were not yet read.
  ///
  /// A pure function of the file's bytes: the same bytes have the same survey. Reads every byte once,
  /// checks the payloads of frames that turn out not to be whole for at most four times the searched
  /// length and 16 MiB, and then stops (`rest`). Throws `io`, and `damaged` if the file is shorter
  /// than what was read of it before.
  public mutating func survey() throws(JournalError) -> JournalSurvey {
    let ending = try ending()
    if ending == .clean {
      var survey = JournalSurvey(ending: ending)
      survey.room = room
      return survey
    }
    let file = scanner.file
    let position = scanner.position
    let header = scanner.header
    return try onFile(path) { () throws(SystemFault) in
      var search = SurveySearch(
        header, in: file, behind: position, ending: ending, end: try file.status().size)
      return try search.run()
    }
  }

  /// Hands over the records of a run that a survey of this file has found; `body` says whether to
  /// go on.
  ///
  /// Leaves what `next` and `visit` have come to as it is. Throws `damaged` where the run does not
  /// read any more as it did, and `io`.
  public func visit(_ run: ReadableRun, _ body: (JournalFrame, RawSpan) -> Bool)
    throws(JournalError)
  {
    var reading = try FrameScanner(path: path, file: scanner.file)
    var place = FramePosition(behind: header)
    place.offset = run.offsets.lowerBound
    place.sequence = run.sequences.lowerBound
    place.chain = run.chain
    reading.seek(to: place)
    var next = place.sequence
    var isStopped = false
    try reading.visit { frame, payload in
      guard frame.sequence <= run.sequences.upperBound else { return false }
      next = frame.sequence + 1
      isStopped = !frame.isWatermark && !body(frame, payload)
      return !isStopped
    }
    guard isStopped || next > run.sequences.upperBound else {
      throw .damaged(
        path: path,
        JournalDamage(
          offset: reading.position.offset, sequence: next, flaw: .historyChanged))
    }
  }
}
