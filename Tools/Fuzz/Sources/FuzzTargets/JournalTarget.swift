internal import SessionJournal

/// A check of any bytes as a journal: all ways in which the library reads them agree.
public enum JournalTarget {
  /// Checks one input.
  public static func check(_ input: [UInt8]) {
    check(file: input)
  }

  static func check(file bytes: [UInt8]) {
    guard HeaderTarget.check(header: bytes) != nil else { return }
    do throws(JournalError) {
      let reading = try Reading(bytes)
      try checkReading(bytes, reading)
      try checkSurvey(bytes, reading)
      // Files need system calls, so only some inputs become files; the choice depends on the input
      // alone.
      let mark = Sum.of(bytes)
      if mark % 16 == 0 { FileChecks.growth(bytes, reading, mark: mark) }
      if mark % 16 == 1 { FileChecks.opening(bytes, reading) }
    } catch {
      finding("bytes in memory: \(error)")
    }
  }

  private static func checkReading(_ bytes: [UInt8], _ reading: Reading) throws(JournalError) {
    require(reading.end <= bytes.count, "\(reading.totals) of \(bytes.count) bytes")
    let room = reading.ending == .clean ? bytes.count - reading.end : 0
    require(reading.room == UInt64(room), "\(reading.room) bytes of room, not \(room)")
    require(bytes.suffix(room).allSatisfy { $0 == 0 }, "room that is not zeros")
    for record in reading.records {
      let start = Int(record.offset) + 32
      let isThere = bytes[start...].starts(with: record.payload)
      require(isThere && record.sequence == bytes.number(start - 24, 8), "\(record) is not there")
    }

    // This visits frames in place, instead of reading records with their bytes.
    var again = try JournalReader(bytes: bytes)
    var visited: [JournalRecord] = []
    try again.visit { frame, payload in
      visited.append(record(frame, payload))
      return visited.count % 3 != 0
    }
    while visited.count % 3 == 0, visited.count < reading.records.count {
      try again.visit { frame, payload in
        visited.append(record(frame, payload))
        return visited.count % 3 != 0
      }
    }
    require(visited == reading.records, "visited \(visited), not \(reading.records)")
    require(try again.ending() == reading.ending, "asked in another order, the verdict is another")
  }

  static func record(_ frame: JournalFrame, _ payload: RawSpan) -> JournalRecord {
    JournalRecord(
      sequence: frame.sequence, offset: frame.offset, kind: frame.kind, flags: frame.flags,
      remainingInBatch: frame.remainingInBatch, payload: payload.withUnsafeBytes { Array($0) })
  }

  /// Checks that prefix, gaps, runs and room cover the file, and that each run's records are
  /// complete.
  private static func checkSurvey(_ bytes: [UInt8], _ reading: Reading) throws(JournalError) {
    var reader = try JournalReader(bytes: bytes)
    let survey = try reader.survey()
    require(survey.ending == reading.ending, "surveyed \(survey.ending)")
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
    var end = reading.totals.bytes
    for part in parts {
      require(part.offsets.lowerBound == end, "\(survey) leaves out bytes from \(end)")
      end = part.offsets.upperBound
    }
    require(end + survey.room == UInt64(bytes.count), "\(survey) ends at \(end)")
    let sequences = (survey.runs.map(\.sequences) + survey.gaps.compactMap(\.sequences))
      .sorted { $0.lowerBound < $1.lowerBound }
    var next = reading.lastSequence + 1
    for range in sequences {
      require(range.lowerBound == next, "\(survey) leaves out sequences from \(next)")
      next = range.upperBound &+ 1
    }
    for run in survey.runs { try check(run, reader) }
  }

  private static func check(
    _ run: ReadableRun, _ reader: borrowing JournalReader
  ) throws(JournalError) {
    var count: UInt64 = 0
    var last = run.sequences.lowerBound
    try reader.visit(run) { frame, _ in
      count += 1
      require(run.offsets.contains(frame.offset), "seq \(frame.sequence) lies outside \(run)")
      require(run.sequences.contains(frame.sequence), "seq \(frame.sequence) is not of \(run)")
      require(count == 1 || frame.sequence > last, "seq \(frame.sequence) after \(last)")
      last = frame.sequence
      return true
    }
    require(count == run.records, "\(run) reads as \(count) records")
  }
}

/// What the library reads of bytes in memory, record by record.
struct Reading {
  let records: [JournalRecord]
  let totals: JournalTotals
  let ending: JournalEnding
  let room: UInt64

  /// The last sequence of the complete batches.
  let lastSequence: UInt64

  init(_ bytes: [UInt8]) throws(JournalError) {
    var reader = try JournalReader(bytes: bytes)
    records = try reader.rest()
    totals = reader.totals
    ending = try reader.ending()
    room = reader.room
    // A lost snapshot has the sequence before the first, which no other record has.
    let isLost = totals.bytes == 64 && reader.header.beginsWithSnapshot
    lastSequence = totals.lastSequence - (isLost ? 1 : 0)
  }

  /// The end of the last complete batch.
  var end: Int { Int(totals.bytes) }
}

extension JournalReader {
  /// Returns all remaining records.
  mutating func rest() throws(JournalError) -> [JournalRecord] {
    var records: [JournalRecord] = []
    while let record = try next() { records.append(record) }
    return records
  }
}
