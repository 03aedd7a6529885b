import SessionJournal
import SessionTestKit
import Testing

@Suite("The bytes of a journal")
struct FormatProperties {
  /// A closed journal of drawn batches: its bytes, and its records.
  struct Written {
    let bytes: [UInt8]
    let records: [JournalRecord]

    /// The offset of each frame, including watermarks, and of the end of the file.
    let frames: [Int]

    init(_ choices: Choices, closed: Bool) throws {
      let disk = SimulatedDisk()
      let journal = try Journal.open(at: journalPath, options: .on(disk))
      for _ in 0..<choices.draw(in: 1...4) {
        _ = try journal.append(
          (0..<choices.draw(in: 1...3)).map { _ in
            let kind = choices.pick([1, 0x7E, 0x80, 0xFE] as [UInt8]) ?? 1
            let count = choices.draw(in: 0...50)
            return JournalDraft(
              kind: kind, payload: (0..<count).map { _ in UInt8(choices.draw(below: 256)) })
          })
      }
      if closed { try journal.close() }
      bytes = disk.contents(of: journalPath) ?? []
      var reader = try JournalReader(bytes: bytes)
      var records: [JournalRecord] = []
      while let record = try reader.next() { records.append(record) }
      self.records = records
      frames = records.map { Int($0.offset) } + (closed ? [bytes.count - 32] : []) + [bytes.count]
    }

    /// The records of the batches that end at or before an offset.
    func whole(at offset: Int) -> [JournalRecord] {
      let ends = Array(zip(records, frames.dropFirst()))
      let last = ends.last { $0.0.remainingInBatch == 0 && $0.1 <= offset }?.0.sequence ?? 0
      return records.filter { $0.sequence <= last }
    }
  }

  private static func read(_ bytes: [UInt8]) throws -> (records: [JournalRecord], JournalEnding) {
    var reader = try JournalReader(bytes: bytes)
    var records: [JournalRecord] = []
    while let record = try reader.next() { records.append(record) }
    return (records, try reader.ending())
  }

  @Test(
    "J11 JRN-2 a journal cut at any byte opens with its longest whole prefix, the rest kept aside")
  func truncation() {
    expect(
      Property(
        "cut at every byte, the longest whole prefix is left", cases: 6,
        regressions: RegressionFolder()
      ).check { choices in
        let written = try Written(choices, closed: choices.chance(1, in: 2))
        for size in JournalHeader.size...written.bytes.count {
          let disk = SimulatedDisk()
          disk.place(Array(written.bytes.prefix(size)), at: journalPath)
          let whole = written.whole(at: size)
          let (records, ending) = try Self.read(Array(written.bytes.prefix(size)))
          try choices.require(records == whole, "cut at \(size): \(records.count) records")
          // Opening on a disk is slower: only at the edges of frames and at some other bytes.
          guard size % 13 == 0 || written.frames.contains(where: { abs($0 - size) < 2 }) else {
            continue
          }
          let journal = try Journal.open(at: journalPath, options: .on(disk))
          try choices.require(
            (ending == .clean) == (journal.recovery.repair == nil), "cut at \(size): \(ending)")
          let left = disk.contents(of: journalPath) ?? []
          let aside = journal.recovery.repair.flatMap { disk.contents(of: $0.keptAside) } ?? []
          let kept = left + aside
          let rest = written.bytes[..<size].dropFirst(kept.count)
          try choices.require(
            written.bytes.starts(with: kept) && rest.allSatisfy { $0 == 0 },
            "cut at \(size), and not all is kept")
        }
      })
  }

  @Test("J13 JRN-5 a written journal reads back, including its header")
  func identity() {
    expect(
      Property(
        "encode and decode are each other's inverse", cases: 60, regressions: RegressionFolder()
      ).check { choices in
        let written = try Written(choices, closed: false)
        let (records, ending) = try Self.read(written.bytes)
        try choices.require(records == written.records && ending == .clean, "\(ending)")
        let header = JournalHeader(
          identifier: JournalIdentifier(
            high: choices.draw(below: .max), low: choices.draw(below: .max)),
          salt: choices.draw(below: .max),
          maximumRecordSize: UInt32(choices.draw(in: 64...8_388_608)))
        try choices.require(
          JournalHeader.read(header.encoded) == .whole(header), "\(header.encoded)")
      })
  }

  @Test("J14 JRN-5 no bytes make a reader trap, and only a journal's own are read as records")
  func randomBytes() {
    expect(
      Property(
        "random bytes never trap and are never records", cases: 300, regressions: RegressionFolder()
      ).check { choices in
        let written = try Written(choices, closed: false)
        let noise = (0..<choices.draw(in: 1...200)).map { _ in UInt8(choices.draw(below: 256)) }
        // Alone, after a header, over a frame, and as a frame's length.
        _ = JournalHeader.read(noise)
        do throws(JournalError) { _ = try JournalReader(bytes: noise) } catch {
          choices.label("no journal")
        }
        let behind = try Self.read(Array(written.bytes.prefix(JournalHeader.size)) + noise)
        try choices.require(behind.records.isEmpty, "noise passed for \(behind.records)")
        var bytes = written.bytes
        let start = choices.draw(in: JournalHeader.size...(bytes.count - 1))
        let end = min(bytes.count, start + noise.count)
        bytes.replaceSubrange(start..<end, with: noise.prefix(end - start))
        let over = try Self.read(bytes)
        try choices.require(
          over.records.starts(with: written.whole(at: start))
            && written.records.starts(with: over.records), "noise from \(start) changed a record")
      })
  }

  @Test("J14 JRN-5 no sealed frames make a reader trap, whatever their values are")
  func sealedFrames() {
    expect(
      Property(
        "sealed frames of any values are read and surveyed", cases: 1000,
        requiredLabels: ["odd value", "clean", "torn", "undetermined", "damaged", "run"],
        regressions: RegressionFolder()
      ).check { choices in
        let bytes = SealedFile(choices).bytes
        let found = try SurveyProperties.found(bytes)
        switch found.survey.ending {
        case .clean: choices.label("clean")
        case .torn: choices.label("torn")
        case .undetermined: choices.label("undetermined")
        case .damaged: choices.label("damaged")
        }
        if !found.survey.runs.isEmpty { choices.label("run") }
        try SurveyProperties.checkCover(found, size: bytes.count)
      })
  }
}

/// A file of drawn frames with valid checksums, which noise and flipped bits never produce.
///
/// Most values are those of a whole journal; any field may have a value from the ends of its range.
struct SealedFile {
  private(set) var bytes: [UInt8]
  private let choices: Choices
  private let seed: Checksum
  private var chain: UInt32 = 0

  init(_ choices: Choices) {
    self.choices = choices
    let hasSnapshot = choices.chance(1, in: 3)
    let first = choices.pick([2, 1, 5, 1 << 62] as [UInt64]) ?? 2
    let header = JournalHeader(
      identifier: JournalIdentifier(high: 1, low: 2), salt: 0x1122_3344_5566_7788,
      maximumRecordSize: choices.pick([4096, 64, 8_388_608] as [UInt32]) ?? 4096)
    seed = header.seed
    bytes = header.encoded
    bytes[12] = hasSnapshot ? 1 : 0
    bytes.replaceSubrange(40..<48, with: Self.little(hasSnapshot ? max(2, first) : first))
    var checksum = Checksum()
    checksum.extend(over: Array(bytes[..<60]))
    chain = checksum.value
    bytes.replaceSubrange(60..., with: Self.little(chain))

    var sequence = hasSnapshot ? max(2, first) - 1 : first
    if hasSnapshot { frame(sequence, kind: 0x7F, delta: .max, left: 0) }
    if hasSnapshot { sequence += 1 }
    var left: UInt16 = 0
    while bytes.count < 4096, choices.chance(4, in: 5) {
      left = left == 0 ? UInt16(choices.draw(below: 3)) : left - 1
      frame(sequence, kind: 1, delta: UInt32(choices.draw(in: 1...2)), left: left)
      sequence += 1
      spoil()
    }
  }

  /// Adds a frame; in one of four, one field or two have other values.
  private mutating func frame(_ sequence: UInt64, kind: UInt8, delta: UInt32, left: UInt16) {
    let payload = [UInt8](repeating: 7, count: choices.draw(in: 0...40))
    let padded = payload + [UInt8](repeating: 0, count: (8 - payload.count % 8) % 8)
    var (sequence, kind, delta, left) = (sequence, kind, delta, left)
    var (length, flags) = (UInt32(payload.count), UInt8(0))
    var sum = Checksum()
    sum.extend(over: padded)
    var (payloadSum, previous) = (sum.value, chain)
    for _ in 0..<(choices.chance(1, in: 4) ? choices.draw(in: 1...2) : 0) {
      choices.label("odd value")
      switch choices.draw(below: 8) {
      case 0: sequence = extreme(near: sequence)
      case 1: delta = extreme(near: delta)
      case 2: left = extreme(near: left)
      case 3: length = extreme(near: length)
      case 4: kind = choices.pick([0xFF, 0, 0x7F, 1, 0x80]) ?? 0xFF
      case 5: flags = extreme(near: flags)
      case 6: previous = extreme(near: previous)
      default: payloadSum = extreme(near: payloadSum)
      }
    }
    var rest = Self.little(length) + Self.little(sequence) + Self.little(delta)
    rest += Self.little(previous) + Self.little(payloadSum) + [kind, flags] + Self.little(left)
    var checksum = seed
    checksum.extend(over: rest)
    chain = checksum.value
    bytes += Self.little(chain) + rest + padded
  }

  /// A value at an end of the range, where its sign bit would turn, or beside the right one.
  private func extreme<Number: FixedWidthInteger & UnsignedInteger>(near value: Number) -> Number {
    let half = Number.max / 2
    let values: [Number] = [
      value &+ 1, value &- 1, 0, 1, half / 2 + 1, half - 1, half, half + 1, .max - 1, .max,
    ]
    return choices.pick(values) ?? value
  }

  /// Loses, damages, cuts or repeats the last bytes, or adds bytes that are not a frame.
  private mutating func spoil() {
    guard choices.chance(1, in: 6) else { return }
    let start = max(JournalHeader.size, bytes.count - 8 * choices.draw(in: 1...8))
    switch choices.draw(below: 5) {
    case 0: bytes.removeSubrange(start...)
    case 1: for place in start..<bytes.count { bytes[place] = 0 }
    case 2: bytes += bytes[start...]
    case 3: bytes += [UInt8](repeating: 0xFF, count: 8 * choices.draw(in: 1...5))
    default: bytes.removeLast(min(choices.draw(in: 1...40), bytes.count - JournalHeader.size))
    }
  }

  private static func little(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { [UInt8]($0) }
  }
}
