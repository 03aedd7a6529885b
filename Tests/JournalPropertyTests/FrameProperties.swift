import SessionJournal
import SessionTestKit
import Testing

@Suite("Frames and batches that are lost, damaged or misplaced")
struct FrameProperties {
  /// One change of a file: units are frames or batches, by number; places are before them.
  enum Damage: Equatable {
    case zeroed(Int, Part)
    case zeroedFrom(Int)
    case dropped(Int)
    case doubled(Int, before: Int)
    case swapped(Int, Int)
    /// A frame of another journal replaces it, or is added next to it.
    case foreign(Int)
    case foreignBefore(Int)
  }

  enum Part: CaseIterable {
    case whole, header, payload, firstHalf, secondHalf, lastByte
  }

  private static let steps: [JournalStep] = [
    .append([40]), .append([3, 60, 12]), .append([90]), .append([20, 7]),
  ]

  /// How the journals were made: in batches, closed or not, with watermark frames
  /// between, compacted one or two times, with room, without a sync per commit, by several callers.
  private static let shapes: [(steps: [JournalStep], room: PreallocationRule, lazy: Int)] = [
    (steps, .none, 0),
    (steps + [.close], .none, 0),
    ([.append([9]), .close, .append([30, 5]), .close, .append([8])], .none, 0),
    ([.append([40]), .append([3, 60]), .append([9]), .compact(2), .append([7, 8])], .none, 0),
    (CompactionProperties.before + [.close], .none, 0),
    (steps, PreallocationRule(step: 512), 0),
    (steps, .none, 1),
    ([.append([5]), .together([[40, 3], [60], [7]]), .append([11])], .none, 0),
  ]

  /// The journal of that shape, and one that differs in salt and identity only.
  private static func journals(_ shape: Int) throws -> (own: FramedJournal, foreign: FramedJournal)
  {
    let journals = try [false, true].map { isForeign in
      let disk = SimulatedDisk()
      // Identity and salt are drawn by count.
      if isForeign { _ = try Journal.open(at: "/data/other", options: .on(disk)) }
      let (steps, room, lazy) = shapes[shape]
      var run = JournalRun(disk, room: room, lazyProcesses: lazy)
      try run.perform(steps)
      return try FramedJournal(disk.contents(of: journalPath) ?? [])
    }
    return (journals[0], journals[1])
  }

  /// Every change of a file with this number of units.
  private static func damages(_ count: Int) -> [Damage] {
    var damages: [Damage] = []
    for one in 0..<count {
      damages += Part.allCases.map { .zeroed(one, $0) }
      damages += [.zeroedFrom(one), .dropped(one), .foreign(one), .foreignBefore(one)]
      damages += (0...count).map { .doubled(one, before: $0) }
      damages += ((one + 1)..<max(count, one + 1)).map { .swapped(one, $0) }
    }
    return damages
  }

  private static func struck(
    _ journal: FramedJournal, by damage: Damage, of units: [Range<Int>], _ foreign: FramedJournal
  ) -> FramedJournal {
    var struck = journal
    let rest = journal.pieces[(units.last?.upperBound ?? 0)...]
    var parts = units.map { Array(journal.pieces[$0]) }
    func other(_ one: Int) -> [FramedJournal.Piece] {
      foreign.pieces[units[one]].map { FramedJournal.Piece($0.bytes) }
    }
    switch damage {
    case .zeroed(let one, let part):
      for place in parts[one].indices { parts[one][place].zero(part) }
    case .zeroedFrom(let one):
      for unit in one..<parts.count {
        for place in parts[unit].indices { parts[unit][place].zero(.whole) }
      }
    case .dropped(let one): parts.remove(at: one)
    case .doubled(let one, let place): parts.insert(parts[one], at: place)
    case .swapped(let one, let next): parts.swapAt(one, next)
    case .foreign(let one): parts[one] = other(one)
    case .foreignBefore(let one): parts.insert(other(one), at: one)
    }
    struck.pieces = parts.flatMap { $0 } + rest
    return struck
  }

  @Test("JRN-2 any frame or batch may be zeroed, dropped, doubled, swapped or foreign")
  func everyFrame() throws {
    let journals = try Self.shapes.indices.map { try Self.journals($0) }
    expect(
      Property(
        "whatever befalls a frame, nothing acknowledged is lost unsaid",
        requiredLabels: ["clean", "torn", "undetermined", "damaged"]
      ).exhaustive { choices in
        guard let (own, foreign) = choices.pick(journals) else { return }
        let units = own.units(batches: choices.chance(1, in: 2))
        guard let damage = choices.pick(Self.damages(units.count)) else { return }
        try choices.look(Sweep("damaged frames", takingOneOf: 3))
        var struck = Self.struck(own, by: damage, of: units, foreign)
        guard struck.bytes != own.bytes else { throw Discard() }
        if choices.chance(1, in: 2) {
          struck.pieces.append(FramedJournal.Piece([UInt8](repeating: 0, count: 100)))
        }
        choices.step("\(damage) of \(units.count)")
        choices.label(struck.reading().word)
        try Self.check(struck)
      })
  }

  @Test("J12 JRN-2 any bit may flip in a closed file, a compacted one and one with room")
  func everyBit() throws {
    for shape in [1, 4, 5] {
      let own = try Self.journals(shape).own
      expect(
        Property(
          "a flipped bit is told where it is, shape \(shape)",
          requiredLabels: ["undetermined", "damaged"]
        ).exhaustive { choices in
          var struck = own
          let place = choices.draw(in: 0...(own.pieces.count - 1))
          guard struck.pieces[place].frame != nil else { throw Discard() }
          let bit = choices.draw(in: 0...(struck.pieces[place].bytes.count * 8 - 1))
          struck.pieces[place].change(bit / 8..<(bit / 8 + 1)) { $0 ^ 1 << (bit % 8) }
          let reading = struck.reading()
          choices.label(reading.word)
          let found = try FramedJournal.Reading(struck.bytes)
          try choices.require(found == reading, "\(found), not \(reading)")
        })
    }
  }

  @Test("J15 JRN-2 stale bytes of a longer history are not read, wherever the new end is")
  func longerPast() throws {
    let sizes = [8, 40, 16, 90, 24, 8, 60]
    expect(
      Property("stale bytes are no records", requiredLabels: ["undetermined", "damaged"])
        .exhaustive { choices in
          // Disks draw equal identities and salts, so these do not distinguish the histories.
          let common = choices.draw(in: 0...(sizes.count - 2))
          let count = choices.draw(in: 1...(sizes.count - 1 - common))
          let size = choices.pick([8, 17, 40, 72]) ?? 8
          let past = try Self.written(sizes.map { ($0, 1) })
          let new = try Self.written(
            sizes.prefix(common).map { ($0, 1) } + (0..<count).map { _ in (size, 2) })
          guard new.count < past.count else { throw Discard() }
          let bytes = new + past[new.count...]
          let reading = try FramedJournal.Reading(bytes)
          choices.label(reading.word)
          let expected = try FramedJournal.Reading(new)
          try choices.require(
            reading.records == expected.records && reading.word != "clean", "\(reading)")
          // A survey may list some if their own begin is overwritten; it still covers the file.
          try SurveyProperties.checkCover(SurveyProperties.found(bytes), size: bytes.count)
          try Self.checkOpening(bytes, reading)
        })
  }

  private static func written(_ records: [(size: Int, filling: UInt8)]) throws -> [UInt8] {
    let disk = SimulatedDisk()
    let journal = try Journal.open(at: journalPath, options: .on(disk))
    for (size, filling) in records {
      _ = try journal.append([
        JournalDraft(kind: 1, payload: [UInt8](repeating: filling, count: size))
      ])
    }
    return disk.contents(of: journalPath) ?? []
  }

  /// Reading, survey and opening agree with the frames.
  private static func check(_ struck: FramedJournal) throws {
    let bytes = struck.bytes
    let expected = struck.reading()
    let reading = try FramedJournal.Reading(bytes)
    guard reading == expected else { throw Falsified("\(reading), not \(expected)") }
    let found = try SurveyProperties.found(bytes)
    try SurveyProperties.checkCover(found, size: bytes.count)
    // Records after damage were written, and appear once, in order.
    let written = Dictionary(
      struck.pieces.compactMap { $0.isWhole ? $0.frame?.record : nil }.map { ($0.sequence, $0) },
      uniquingKeysWith: { first, _ in first })
    var last = reading.records.last?.sequence ?? 0
    for record in found.behind {
      guard record.sequence > last, written[record.sequence]?.payload == record.payload else {
        throw Falsified("behind damage, seq \(record.sequence) follows \(last)")
      }
      last = record.sequence
    }
    try checkOpening(bytes, reading)
  }

  /// Opening refuses damage and leaves it; any other file opens, two times with the same result, is
  /// cut only after the prefix with a copy of the cut bytes, and accepts records again.
  private static func checkOpening(_ bytes: [UInt8], _ reading: FramedJournal.Reading) throws {
    let disk = SimulatedDisk()
    disk.place(bytes, at: journalPath)
    let journal: Journal
    do throws(JournalError) {
      journal = try Journal.open(at: journalPath, options: .on(disk))
    } catch {
      guard case .damaged(_, let damage) = error, reading.word == "damaged",
        (damage.offset, damage.sequence) == (reading.offset, reading.sequence),
        disk.contents(of: journalPath) == bytes, disk.paths.count == 2
      else { throw Falsified("\(reading) is opened with \(error), beside it \(disk.paths)") }
      return
    }
    let left = disk.contents(of: journalPath) ?? []
    let isKept = reading.word == "clean"
    let tail = bytes[Int(reading.offset)...]
    let aside = journal.recovery.repair.flatMap { disk.contents(of: $0.keptAside) } ?? []
    guard reading.word != "damaged", (journal.recovery.repair == nil) == isKept,
      left == (isKept ? bytes : Array(bytes[..<Int(reading.offset)])),
      isKept || tail.starts(with: aside) && tail.dropFirst(aside.count).allSatisfy({ $0 == 0 })
    else { throw Falsified("\(reading) is opened as \(journal.recovery), \(left.count) bytes") }
    let again = try Journal.open(at: journalPath, options: .on(disk.crash(.losingAll)))
    guard again.recovery.repair == nil, disk.contents(of: journalPath) == left else {
      throw Falsified("a second opening changes something: \(again.recovery)")
    }
    let done = try journal.append([JournalDraft(kind: 3, payload: [1, 2, 3])])
    let after = try FramedJournal.Reading(disk.crash(.losingAll).contents(of: journalPath) ?? [])
    guard after.word == "clean", after.records == reading.records + done.appended else {
      throw Falsified("after an append: \(after)")
    }
  }
}

extension FramedJournal.Piece {
  fileprivate mutating func zero(_ part: FrameProperties.Part) {
    let count = bytes.count
    switch part {
    case .whole: change(0..<count) { _ in 0 }
    case .header: change(0..<32) { _ in 0 }
    case .payload: change(32..<count) { _ in 0 }
    case .firstHalf: change(0..<(count / 2)) { _ in 0 }
    case .secondHalf: change((count / 2)..<count) { _ in 0 }
    case .lastByte: change((count - 1)..<count) { _ in 0 }
    }
  }
}
