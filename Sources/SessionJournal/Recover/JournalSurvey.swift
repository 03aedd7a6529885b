/// What is readable, and what is lost, after the whole prefix of a journal (Specs/JournalFormat.md,
/// "Survey").
///
/// Prefix, runs, gaps, room and rest cover the file in order and do not overlap.
public struct JournalSurvey: Equatable, Sendable {
  /// The highest number of runs that are listed; `rest` counts what follows them.
  public static let listedRuns = 1024

  /// The state of the file's end.
  public let ending: JournalEnding

  /// The readable runs after the prefix, by offset; their sequences ascend.
  public internal(set) var runs: [ReadableRun] = []

  /// The lost parts between prefix, runs and the end of the file, by offset.
  public internal(set) var gaps: [LostRange] = []

  /// The number of zeros from the last readable batch to the end of the file, in bytes.
  public internal(set) var room: UInt64 = 0

  /// The part that is not listed; usually nil.
  public internal(set) var rest: OmittedRuns?
}

/// Consecutive whole batches after lost bytes.
public struct ReadableRun: Equatable, Sendable {
  /// Their place, in bytes from the beginning of the file.
  public internal(set) var offsets: Range<UInt64>

  /// Their sequences, including those of watermarks.
  public internal(set) var sequences: ClosedRange<UInt64>

  /// The number of records, without watermarks.
  public internal(set) var records: UInt64

  /// The checksum that the first frame names as that of its predecessor.
  let chain: UInt32
}

/// A part of a file that cannot be read.
public struct LostRange: Equatable, Sendable {
  /// Its place, in bytes from the beginning of the file; empty if frames were taken out.
  public let offsets: Range<UInt64>

  /// The sequences that are known to be lost there.
  ///
  /// Nil if none is lost. Also nil at the end of the file if nothing tells how many there were.
  public let sequences: ClosedRange<UInt64>?

  /// The number of whole frames in this part that do not count.
  ///
  /// Their batch is incomplete, or they belong to another history.
  public let looseFrames: UInt64
}

/// The part of a file that a survey does not list.
///
/// Either there were too many runs, or the file was crafted to make the search slow.
public struct OmittedRuns: Equatable, Sendable {
  /// Its place, in bytes from the beginning of the file.
  public internal(set) var offsets: Range<UInt64>

  /// The number of runs that were found in it.
  public internal(set) var runs: UInt64 = 0

  /// The number of records in those runs.
  public internal(set) var records: UInt64 = 0

  /// Whether all of it was searched.
  public internal(set) var isSearched = true
}

extension JournalReader {
  /// Reports what is lost and what is readable after the whole prefix.
  ///
  /// Passes over the records that were not yet read. The same bytes always have the same survey.
  /// Every byte is read once. In addition, payloads of frames that turn out incomplete are checked,
  /// for at most four times the searched length plus 16 MiB. Then the search stops, and `rest` says
  /// so. Throws `io`, and `damaged` if the file is shorter than what was read before.
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

  /// Passes the records of a run to `body` until it returns false.
  ///
  /// The run must come from a survey of this file. The position of `next` and `visit` does not
  /// change. Throws `io`, and `damaged` if the run no longer reads as it did.
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
