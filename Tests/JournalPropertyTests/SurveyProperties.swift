import SessionJournal
import SessionTestKit
import Testing

@Suite("Readable records after damage")
struct SurveyProperties {
  /// A batch's bytes in a file, and their condition.
  struct Piece {
    var bytes: [UInt8]
    /// The records of an unchanged batch; none for other bytes.
    var records: [JournalRecord] = []
    /// The last sequence of the batch, with watermarks; 0 for other bytes.
    var last: UInt64 = 0
  }

  struct Found {
    let survey: JournalSurvey
    let prefix: [JournalRecord]
    let prefixEnd: UInt64
    let behind: [JournalRecord]
  }

  private static func pieces(_ choices: Choices) throws -> (header: [UInt8], pieces: [Piece]) {
    let written = try FormatProperties.Written(choices, closed: choices.chance(1, in: 2))
    var pieces: [Piece] = []
    var batch: [JournalRecord] = []
    var start = JournalHeader.size
    for (place, record) in written.records.enumerated() {
      batch.append(record)
      guard record.remainingInBatch == 0 else { continue }
      let end = written.frames[place + 1]
      pieces.append(
        Piece(
          bytes: Array(written.bytes[start..<end]), records: batch, last: record.sequence))
      (batch, start) = ([], end)
    }
    if start < written.bytes.count {
      let last = (pieces.last?.last ?? 0) + 1
      pieces.append(Piece(bytes: Array(written.bytes[start...]), last: last))
    }
    return (Array(written.bytes.prefix(JournalHeader.size)), pieces)
  }

  static func found(_ bytes: [UInt8]) throws -> Found {
    var reader = try JournalReader(bytes: bytes)
    var prefix: [JournalRecord] = []
    while let record = try reader.next() { prefix.append(record) }
    let survey = try reader.survey()
    var behind: [JournalRecord] = []
    for run in survey.runs {
      let before = behind.count
      try reader.visit(run) { frame, payload in
        behind.append(
          JournalRecord(
            sequence: frame.sequence, offset: frame.offset, kind: frame.kind,
            remainingInBatch: frame.remainingInBatch, payload: payload.withUnsafeBytes { Array($0) }
          )
        )
        return true
      }
      guard UInt64(behind.count - before) == run.records else {
        throw Falsified("a run of \(run.records) records reads as \(behind.count - before)")
      }
    }
    return Found(
      survey: survey, prefix: prefix, prefixEnd: reader.totals.bytes, behind: behind)
  }

  /// Prefix, gaps, runs and room follow each other and cover the file; sequences ascend.
  static func checkCover(_ found: Found, size: Int) throws {
    var parts = found.survey.gaps.map { ($0.offsets, 0) }
    parts += found.survey.runs.map { ($0.offsets, 1) }
    parts.sort {
      ($0.0.lowerBound, $0.0.upperBound, $0.1) < ($1.0.lowerBound, $1.0.upperBound, $1.1)
    }
    var end = found.prefixEnd
    for (offsets, _) in parts {
      guard offsets.lowerBound == end else {
        throw Falsified("\(offsets) does not begin at \(end)")
      }
      end = offsets.upperBound
    }
    guard end + found.survey.room == size, found.survey.rest == nil else {
      throw Falsified("\(end) and \(found.survey.room) of \(size) bytes are covered")
    }
    let runs = found.survey.runs.map(\.sequences)
    let gaps = found.survey.gaps.compactMap(\.sequences)
    let all = (runs + gaps).sorted { $0.lowerBound < $1.lowerBound }
    for (one, next) in zip(all, all.dropFirst()) where one.upperBound + 1 != next.lowerBound {
      throw Falsified("behind \(one) comes \(next)")
    }
  }

  private static func key(_ record: JournalRecord) -> JournalRecord {
    JournalRecord(
      sequence: record.sequence, offset: 0, kind: record.kind,
      remainingInBatch: record.remainingInBatch, payload: record.payload)
  }

  /// Batches in the order of the history, each once.
  private static func readable(_ pieces: [Piece]) -> [JournalRecord] {
    var last: UInt64 = 0
    return pieces.flatMap { piece -> [JournalRecord] in
      guard piece.last > last else { return [] }
      last = piece.last
      return piece.records.map(key)
    }
  }

  private static func damage(_ pieces: inout [Piece], _ choices: Choices) throws {
    let place = choices.draw(in: 0...(pieces.count - 1))
    switch choices.draw(below: 6) {
    case 0:
      choices.label("flipped")
      let bit = choices.draw(in: 0...(pieces[place].bytes.count * 8 - 1))
      pieces[place].bytes[bit / 8] ^= 1 << (bit % 8)
      pieces[place] = Piece(bytes: pieces[place].bytes)
    case 1:
      choices.label("zeroed")
      pieces[place] = Piece(bytes: [UInt8](repeating: 0, count: pieces[place].bytes.count))
    case 2:
      guard pieces.count > 1 else { throw Discard() }
      choices.label("dropped")
      pieces.remove(at: place)
    case 3:
      choices.label("doubled")
      pieces.insert(pieces[place], at: choices.draw(in: 0...pieces.count))
    case 4:
      choices.label("swapped")
      pieces.swapAt(place, choices.draw(in: 0...(pieces.count - 1)))
    default:
      choices.label("foreign")
      var foreign = try Self.pieces(choices)
      foreign.header =
        JournalHeader(
          identifier: JournalIdentifier(high: 1, low: 2), salt: 99, maximumRecordSize: 4096
        ).encoded
      let bytes = try rewritten(foreign.pieces.flatMap(\.records), under: foreign.header)
      pieces.insert(Piece(bytes: bytes), at: place)
    }
  }

  /// The same records as frames of another file.
  private static func rewritten(_ records: [JournalRecord], under header: [UInt8]) throws -> [UInt8]
  {
    guard case .whole(let header) = JournalHeader.read(header) else { throw Discard() }
    var writer = FrameWriter(seed: header.seed, chain: header.checksum)
    for record in records {
      writer.append(
        JournalDraft(kind: record.kind, payload: record.payload), sequence: record.sequence,
        durable: record.sequence - 1, remainingInBatch: 0)
    }
    return writer.bytes
  }

  @Test("JRN-2 a survey finds unchanged batches after any damage, and only those")
  func survives() {
    expect(
      Property(
        "every batch that stands is in the prefix or in a run", cases: 400,
        requiredLabels: ["flipped", "zeroed", "dropped", "doubled", "swapped", "foreign"]
      ).check { choices in
        var (header, pieces) = try Self.pieces(choices)
        for _ in 0..<choices.draw(in: 1...3) { try Self.damage(&pieces, choices) }
        let bytes = header + pieces.flatMap(\.bytes)
        choices.step("\(pieces.map { "\($0.last):\($0.bytes.count)" })")
        let found = try Self.found(bytes)
        let expected = Self.readable(pieces)
        try choices.require(
          (found.prefix + found.behind).map(Self.key) == expected,
          "\(found.prefix.map(\.sequence)) + \(found.behind.map(\.sequence)) of "
            + "\(expected.map(\.sequence)): \(found.survey)")
        try Self.checkCover(found, size: bytes.count)
      })
  }

  @Test("JRN-2 remains of a longer history after the end are not read as records")
  func longerPast() {
    expect(
      Property("stale frames are never reported", cases: 150).check { choices in
        // Disks draw equal identities and salts, so these do not distinguish the histories.
        let sizes = (0..<choices.draw(in: 3...8)).map { _ in choices.draw(in: 1...40) }
        let cut = choices.draw(in: 1...(sizes.count - 2))
        let pasts = try [UInt8(1), 2].map { filling in
          let disk = SimulatedDisk()
          let journal = try Journal.open(at: journalPath, options: .on(disk))
          for (place, size) in sizes.enumerated() {
            let byte = place < cut ? 0 : filling
            _ = try journal.append([
              JournalDraft(kind: 1, payload: Array(repeating: byte, count: size))
            ])
          }
          var reader = try JournalReader(bytes: disk.contents(of: journalPath) ?? [])
          var records: [JournalRecord] = []
          while let record = try reader.next() { records.append(record) }
          return (bytes: disk.contents(of: journalPath) ?? [], records: records)
        }
        // The new history is shorter than the old, and ends between two of its frames.
        let end = choices.draw(in: (cut + 1)...(sizes.count - 1))
        let start = Int(pasts[0].records[end].offset)
        var bytes = Array(pasts[1].bytes.prefix(start)) + pasts[0].bytes[start...]
        var expected = Array(pasts[1].records.prefix(end))
        // A record before the cut may also be damaged, as long as the last one is intact.
        if choices.chance(1, in: 2) {
          let place = choices.draw(in: 0...(end - 2))
          bytes[Int(expected[place].offset) + 33] ^= 1
          expected.remove(at: place)
        }
        let found = try Self.found(bytes)
        try choices.require(
          found.prefix + found.behind == expected,
          "\((found.prefix + found.behind).map(\.sequence)): \(found.survey)")
        try choices.require(
          found.survey.gaps.last?.looseFrames == UInt64(sizes.count - end), "\(found.survey)")
        try Self.checkCover(found, size: bytes.count)
      })
  }
}
