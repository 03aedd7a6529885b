internal import SessionJournal

/// A check of any bytes as a journal: both readers agree, and all ways in which the library reads
/// agree.
public enum JournalTarget {
  /// Checks one input.
  public static func check(_ input: [UInt8]) {
    check(file: input)
  }

  static func check(file bytes: [UInt8]) {
    guard let header = HeaderTarget.check(header: bytes) else { return }
    let model = FileModel(bytes, header)
    do throws(JournalError) {
      try checkReading(bytes, model)
      try checkSurvey(bytes, model)
    } catch {
      finding("bytes in memory: \(error)")
    }
    // Files need system calls, so only some inputs become files; the choice depends on the input
    // alone.
    let mark = Sum.of(bytes)
    if mark % 16 == 0 { FileChecks.growth(bytes, model, mark: mark) }
    if mark % 16 == 1 { FileChecks.opening(bytes, model) }
  }

  private static func checkReading(_ bytes: [UInt8], _ model: FileModel) throws(JournalError) {
    var reader = try JournalReader(bytes: bytes)
    let records = try reader.rest()
    require(records == model.records, "read \(records), not \(model.records)")
    // A snapshot has the sequence before the first; if the snapshot is lost, no other record has
    // it.
    let last = model.end == 64 ? model.header.firstSequence - 1 : model.lastSequence
    require(reader.totals.lastSequence == last, "\(reader.totals)")
    require(reader.totals.bytes == UInt64(model.end), "\(reader.totals), not \(model.end)")
    let ending = try reader.ending()
    require(EndingModel(ending) == model.ending, "\(ending), not \(model.ending)")
    let room = ending == .clean ? bytes.count - model.end : 0
    require(reader.room == UInt64(room), "\(reader.room) bytes of room, not \(room)")

    // This visits frames in place, instead of reading records with their bytes.
    var again = try JournalReader(bytes: bytes)
    var visited: [JournalRecord] = []
    try again.visit { frame, payload in
      visited.append(record(frame, payload))
      return visited.count % 3 != 0
    }
    while visited.count % 3 == 0, visited.count < records.count {
      try again.visit { frame, payload in
        visited.append(record(frame, payload))
        return visited.count % 3 != 0
      }
    }
    require(visited == records, "visited \(visited), not \(records)")
    require(try again.ending() == ending, "asked in another order, the verdict is another")
  }

  static func record(_ frame: JournalFrame, _ payload: RawSpan) -> JournalRecord {
    JournalRecord(
      sequence: frame.sequence, offset: frame.offset, kind: frame.kind, flags: frame.flags,
      remainingInBatch: frame.remainingInBatch, payload: payload.withUnsafeBytes { Array($0) })
  }

  /// Checks that prefix, gaps, runs and room cover the file, and that each run's records are
  /// complete.
  private static func checkSurvey(_ bytes: [UInt8], _ model: FileModel) throws(JournalError) {
    var reader = try JournalReader(bytes: bytes)
    let survey = try reader.survey()
    require(EndingModel(survey.ending) == model.ending, "surveyed \(survey.ending)")
    require(survey.rest == nil, "\(bytes.count) bytes are too many: \(survey)")
    guard survey.ending != .clean else {
      return require(survey.runs.isEmpty && survey.gaps.isEmpty, "clean, and \(survey)")
    }
    var parts = survey.gaps.map { (offsets: $0.offsets, kind: 0) }
    parts += survey.runs.map { (offsets: $0.offsets, kind: 1) }
    parts.sort {
      ($0.offsets.lowerBound, $0.offsets.upperBound, $0.kind)
        < ($1.offsets.lowerBound, $1.offsets.upperBound, $1.kind)
    }
    var end = UInt64(model.end)
    for part in parts {
      require(part.offsets.lowerBound == end, "\(survey) leaves out bytes from \(end)")
      end = part.offsets.upperBound
    }
    require(end + survey.room == UInt64(bytes.count), "\(survey) ends at \(end)")
    let sequences = (survey.runs.map(\.sequences) + survey.gaps.compactMap(\.sequences))
      .sorted { $0.lowerBound < $1.lowerBound }
    var next = model.lastSequence + 1
    for range in sequences {
      require(range.lowerBound == next, "\(survey) leaves out sequences from \(next)")
      next = range.upperBound &+ 1
    }
    for run in survey.runs { try check(run, reader, model) }
  }

  private static func check(
    _ run: ReadableRun, _ reader: borrowing JournalReader, _ model: FileModel
  ) throws(JournalError) {
    var count: UInt64 = 0
    var last = run.sequences.lowerBound
    try reader.visit(run) { frame, _ in
      count += 1
      require(run.offsets.contains(frame.offset), "seq \(frame.sequence) lies outside \(run)")
      require(run.sequences.contains(frame.sequence), "seq \(frame.sequence) is not of \(run)")
      require(count == 1 || frame.sequence > last, "seq \(frame.sequence) after \(last)")
      require(model.isWhole(at: Int(frame.offset)), "seq \(frame.sequence) is not whole")
      last = frame.sequence
      return true
    }
    require(count == run.records, "\(run) reads as \(count) records")
  }
}

extension JournalReader {
  /// Returns all remaining records.
  mutating func rest() throws(JournalError) -> [JournalRecord] {
    var records: [JournalRecord] = []
    while let record = try next() { records.append(record) }
    return records
  }
}
