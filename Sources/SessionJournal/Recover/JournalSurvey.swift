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

extension JournalSurvey {
  /// A lost or a readable part after the whole prefix.
  package enum Part {
    case lost(LostRange)
    case readable(ReadableRun)
  }

  /// The listed parts in the order of the file; a gap comes before a run that begins at the same
  /// byte.
  package var parts: [Part] {
    let parts: [(offset: UInt64, rank: Int, part: Part)] =
      gaps.map { ($0.offsets.lowerBound, 0, .lost($0)) }
      + runs.map { ($0.offsets.lowerBound, 1, .readable($0)) }
    return parts.sorted { ($0.offset, $0.rank) < ($1.offset, $1.rank) }.map(\.part)
  }
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
        header, in: file, after: position, ending: ending, end: try file.status().size)
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
    var place = FramePosition(after: header)
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

/// The search for whole batches after the whole prefix, at every multiple of 8.
///
/// Moves forward only, with one frame in memory. A batch counts under three conditions:
/// - It is whole.
/// - Its first frame is known to begin it.
/// - It does not contradict the readable history before it.
private struct SurveySearch: ~Copyable {
  /// The fields by which the next frame refers to a frame.
  private struct Link {
    let sequence: UInt64
    let checksum: UInt32
    let remainingInBatch: UInt16

    init(_ frame: JournalFrame) {
      sequence = frame.sequence
      checksum = frame.checksum
      remainingInBatch = frame.remainingInBatch
    }

    func isBefore(_ frame: JournalFrame) -> Bool {
      frame.sequence == sequence + 1 && frame.previousChecksum == checksum
    }
  }

  private let header: JournalHeader
  private let seed: Checksum
  private let file: any JournalFileHandle
  private let end: UInt64
  private var window = ReadWindow()
  private var survey: JournalSurvey

  /// The end of what is readable so far.
  private var history: FramePosition

  /// The last frame that was found, whether it counts or not.
  private var met: Link?

  /// The last frame that contradicts the history: frames that continue it are of another history
  /// too.
  private var refuted: Link?

  /// The highest sequence of a frame that does not contradict the history.
  private var highest: UInt64 = 0

  /// The number of whole frames since `history` that do not count.
  private var loose: UInt64 = 0

  /// How many more bytes of payloads may be checked without success.
  private var patience: UInt64

  init(
    _ header: JournalHeader, in file: any JournalFileHandle, after position: FramePosition,
    ending: JournalEnding, end: UInt64
  ) {
    self.header = header
    self.file = file
    self.end = max(end, position.offset)
    seed = header.seed
    history = position
    survey = JournalSurvey(ending: ending)
    // A sparse file may be nearly 2^64 bytes long.
    patience = 4 * min(self.end - position.offset, 1 << 60) + 16 * 1024 * 1024
  }

  mutating func run() throws(SystemFault) -> JournalSurvey {
    var place = history.offset
    while patience > 0, let frame = try candidate(from: place) {
      place = try examine(frame)
    }
    try finish()
    return survey
  }

  /// Takes the frame's batch, or skips it; returns the offset where the search continues.
  private mutating func examine(_ frame: JournalFrame) throws(SystemFault) -> UInt64 {
    let isNext = frame.sequence == history.sequence
    let continues = isNext && frame.previousChecksum == history.chain
    if isNext && !continues || refuted?.isBefore(frame) == true && !continues {
      refuted = Link(frame)
      met = refuted
      return try pass(frame)
    }
    // All frames of a batch hold the watermark from before it.
    let begins =
      continues || frame.durableSequence == frame.sequence - 1
      || met?.isBefore(frame) == true && met?.remainingInBatch == 0
    if begins { return try takeBatch(from: frame) }
    note(frame)
    return try pass(frame)
  }

  private mutating func note(_ frame: JournalFrame) {
    met = Link(frame)
    highest = max(highest, frame.sequence)
  }

  private mutating func pass(_ frame: JournalFrame) throws(SystemFault) -> UInt64 {
    guard try isWhole(frame) else { return frame.offset + UInt64(JournalFrame.headerSize) }
    loose += 1
    return frame.offset + UInt64(frame.size)
  }

  private mutating func takeBatch(from first: JournalFrame) throws(SystemFault) -> UInt64 {
    var place = FramePosition(after: header)
    place.offset = first.offset
    place.sequence = first.sequence
    place.chain = first.previousChecksum
    var frame = first
    var expected: UInt16?
    var frames: UInt64 = 0
    var records: UInt64 = 0
    while place.flaw(of: frame, batchStart: first.offset, expected: expected) == nil {
      note(frame)
      guard try isWhole(frame) else {
        loose += frames
        return frame.offset + UInt64(JournalFrame.headerSize)
      }
      frames += 1
      if !frame.isWatermark { records += 1 }
      place.advance(over: frame)
      if frame.remainingInBatch == 0 {
        add(first, to: place, records: records)
        return place.offset
      }
      expected = frame.remainingInBatch - 1
      guard let next = try self.frame(at: place.offset) else { break }
      frame = next
    }
    loose += frames
    return place.offset
  }

  private mutating func add(_ first: JournalFrame, to place: FramePosition, records: UInt64) {
    let offsets = first.offset..<place.offset
    let isJoined = first.offset == history.offset && first.sequence == history.sequence
    if isJoined, survey.rest != nil {
      survey.rest?.records += records
    } else if isJoined, let last = survey.runs.indices.last {
      let run = survey.runs[last]
      survey.runs[last].offsets = run.offsets.lowerBound..<place.offset
      survey.runs[last].sequences = run.sequences.lowerBound...(place.sequence - 1)
      survey.runs[last].records += records
    } else if survey.runs.count < JournalSurvey.listedRuns {
      let isGap = first.sequence > history.sequence
      survey.gaps.append(
        LostRange(
          offsets: history.offset..<first.offset,
          sequences: isGap ? history.sequence...(first.sequence - 1) : nil, looseFrames: loose))
      survey.runs.append(
        ReadableRun(
          offsets: offsets, sequences: first.sequence...(place.sequence - 1), records: records,
          chain: first.previousChecksum))
    } else {
      survey.rest = survey.rest ?? OmittedRuns(offsets: history.offset..<end)
      survey.rest?.runs += 1
      survey.rest?.records += records
    }
    history = place
    loose = 0
  }

  private mutating func finish() throws(SystemFault) {
    if patience == 0 {
      survey.rest = survey.rest ?? OmittedRuns(offsets: history.offset..<end)
      survey.rest?.isSearched = false
    }
    guard survey.rest == nil, history.offset < end else { return }
    if !survey.runs.isEmpty, try isZero(from: history.offset) {
      survey.room = end - history.offset
      return
    }
    let isKnown = highest >= history.sequence
    survey.gaps.append(
      LostRange(
        offsets: history.offset..<end, sequences: isKnown ? history.sequence...highest : nil,
        looseFrames: loose))
  }
}

extension SurveySearch {
  /// Finds the first possible frame of this file, from `place` on, that may follow the history.
  private mutating func candidate(from place: UInt64) throws(SystemFault) -> JournalFrame? {
    let size = JournalFrame.headerSize
    var place = place
    while place + UInt64(size) <= end {
      if window.available(at: place) < size {
        guard let data = try file.nextData(from: place) else { return nil }
        if data > place + UInt64(size) { place = (data - UInt64(size)) & ~7 }
        guard try window.fill(size, at: place, keeping: place, of: file) >= size else { return nil }
      }
      let (frame, passed) = look(at: place)
      if let frame { return frame }
      place += passed
    }
    return nil
  }

  /// Searches the bytes in memory from `place` on; returns how many it passed.
  private func look(at place: UInt64) -> (frame: JournalFrame?, passed: UInt64) {
    let first = Int(place - window.origin)
    let last = first + window.available(at: place) - JournalFrame.headerSize
    let (header, seed, next) = (header, seed, history.sequence)
    return window.storage.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return (nil, 0) }
      var here = first
      while here <= last {
        // Cheap checks first: this runs at every eighth byte.
        let sequence: UInt64 = base.loadLittle(here + 8)
        let length: UInt32 = base.loadLittle(here + 4)
        if sequence >= next, length <= header.maximumRecordSize {
          let read = JournalFrame.read(
            base + here, offset: place + UInt64(here - first), seed: seed, header: header)
          if case .success(let frame) = read { return (frame, 0) }
        }
        here += 8
      }
      return (nil, UInt64(here - first))
    }
  }

  /// Returns the frame at `place`; nil if none can be there.
  private mutating func frame(at place: UInt64) throws(SystemFault) -> JournalFrame? {
    let size = JournalFrame.headerSize
    if window.available(at: place) < size {
      guard try window.fill(size, at: place, keeping: place, of: file) >= size else { return nil }
    }
    let start = Int(place - window.origin)
    let (header, seed) = (header, seed)
    let read = window.storage.withUnsafeBytes { bytes -> Result<JournalFrame, JournalFlaw> in
      guard let base = bytes.baseAddress else { return .failure(.shortHeader) }
      return JournalFrame.read(base + start, offset: place, seed: seed, header: header)
    }
    guard case .success(let frame) = read else { return nil }
    return frame
  }

  /// Whether the payload is complete and its checksum matches.
  private mutating func isWhole(_ frame: JournalFrame) throws(SystemFault) -> Bool {
    let size = UInt64(frame.size)
    guard end - frame.offset >= size else { return false }
    if window.available(at: frame.offset) < frame.size {
      let here = try window.fill(frame.size, at: frame.offset, keeping: frame.offset, of: file)
      guard here >= frame.size else { return false }
    }
    let payload = Int(frame.offset - window.origin) + JournalFrame.headerSize
    let isIntact = window.storage.withUnsafeBytes { bytes -> Bool in
      guard let base = bytes.baseAddress else { return false }
      var checksum = Checksum()
      checksum.extend(over: base + payload, count: frame.size - JournalFrame.headerSize)
      return checksum.value == frame.payloadChecksum
    }
    if !isIntact { patience -= min(patience, size) }
    return isIntact
  }

  private mutating func isZero(from start: UInt64) throws(SystemFault) -> Bool {
    var place = start
    while place < end, let data = try file.nextData(from: place), data < end {
      place = max(place, data)
      var count = window.available(at: place)
      if count == 0 { count = try window.fill(1, at: place, keeping: place, of: file) }
      guard count > 0 else { break }
      let first = Int(place - window.origin)
      let isZero = window.storage.withUnsafeBytes { bytes in
        UnsafeRawBufferPointer(rebasing: bytes[first..<(first + count)]).isZero
      }
      guard isZero else { return false }
      place += UInt64(count)
    }
    return true
  }
}
