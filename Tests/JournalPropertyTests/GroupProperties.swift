import SessionJournal
import SessionTestKit
import SessionTesting
import Testing

@Suite("Batches of several callers in one write")
struct GroupProperties {
  private static let groups: [JournalStep] = [
    .append([20]), .together([[40, 3], [600], [7]]), .together([[1], [1]]), .append([500]),
  ]

  private static func run(on disk: SimulatedDisk, room: RoomRule) throws -> JournalRun {
    var run = JournalRun(disk, room: room)
    try run.perform(groups)
    return run
  }

  @Test("J17 JRN-2 A crash at every byte of a write of several batches: each whole or not there")
  func crash() throws {
    for step in [0, 256] as [UInt64] {
      let room = RoomRule(step: step)
      let clean = SimulatedDisk()
      _ = try Self.run(on: clean, room: room)
      let writes = clean.trace.filter { $0.operation == .write }
      expect(
        Property(
          "a crash in a write of several batches, room \(step)", regressions: RegressionFolder()
        ).exhaustive { choices in
          guard let write = choices.pick(writes) else { return }
          let stride = write.bytes > 200 ? 37 : 3
          let bytes = stride * Int(choices.draw(below: UInt64(write.bytes / stride + 1)))
          let disk = SimulatedDisk()
          disk.fail(atCall: write.number, with: .death(afterBytes: bytes))
          let run = try Self.run(on: disk, room: room)
          let cut = CrashProperties.cut(choices.draw(below: 4), seed: UInt64(bytes))
          var recovery = Recovery(disk.crash(cut), run.oracle)
          try recovery.verify()
        })
    }
  }

  @Test("J18 JRN-2 A fault at every call of such a write: all callers are told, none half")
  func faults() throws {
    let clean = SimulatedDisk()
    _ = try Self.run(on: clean, room: .none)
    let count = UInt64(clean.callCount)
    let faults: [DiskFault] = [
      .inputOutput, .noSpace, .interrupted, .shortWrite(1), .shortWrite(70),
      .failedSync(written: 0, evicting: false), .failedSync(written: .max, evicting: true),
    ]
    expect(
      Property("a fault in a write of several batches", regressions: RegressionFolder())
        .exhaustive { choices in
          let disk = SimulatedDisk()
          let call = Int(choices.draw(below: count))
          guard let fault = choices.pick(faults) else { return }
          disk.fail(atCall: call, with: fault)
          let run = try Self.run(on: disk, room: .none)
          var recovery = Recovery(disk.crash(.losingAll), run.oracle)
          try recovery.verify()
        })
  }

  @Test(
    "J22 JRN-2 No room after any number of bytes: the batches that fit are taken, the rest refused")
  func noRoom() throws {
    expect(
      Property(
        "of a write without room the batches that fit are taken", regressions: RegressionFolder()
      )
      .exhaustive { choices in
        let disk = SimulatedDisk()
        let journal = try Journal.open(at: "/j", options: .on(disk))
        let sizes = [40, 3, 600, 7]
        let batches = sizes.map {
          [JournalDraft(kind: 1, payload: [UInt8](repeating: 9, count: $0))]
        }
        let bytes = Int(choices.draw(below: 90)) * 9
        disk.room = bytes
        var end = 0
        for (drafts, outcome) in zip(batches, journal.append(together: batches)) {
          end += 32 + (drafts[0].payload.count + 7) / 8 * 8
          let isTaken: Bool = if case .success = outcome { true } else { false }
          try choices.require(isTaken == (end <= bytes), "\(end) of \(bytes): taken \(isTaken)")
        }
        disk.room = nil
        var reader = try JournalReader(path: "/j", on: disk)
        try choices.require(try reader.ending() == .clean, "not clean")
        let more = try journal.append([JournalDraft(kind: 1, payload: [])])
        try choices.require(more.appended[0].sequence == reader.totals.lastSequence + 1, "a gap")
      })
  }

  @Test("J19 JRN-2 What only the system had survives any death, and after a power cut is a prefix")
  func operatingSystem() {
    expect(
      Property(
        "what only the system had survives a death", cases: 200, regressions: RegressionFolder()
      ).check { choices in
        let disk = SimulatedDisk()
        var run = JournalRun(disk, processes: 2, lazyProcesses: choices.draw(in: 1...2))
        for _ in 0..<choices.draw(in: 1...10) {
          try run.perform(DrawnProperties.step(choices), by: choices.draw(in: 0...1))
          if choices.chance(1, in: 6) { disk.writeBack(choices) }
        }
        // Nothing is lost by a death; everything that was durable says so, and nothing else.
        var survivors = Recovery(disk.crash(.keepingAll), run.oracle)
        try survivors.verify()
        var oracle = run.oracle
        oracle.powerFails()
        var recovery = Recovery(disk.crash(choices), oracle)
        try recovery.verify()
      })
  }

  @Test(
    "J20 JRN-1 An append that expects another last record is refused, and is nobody else's harm")
  func expectations() {
    expect(
      Property(
        "an append lands behind the record it expects", cases: 200, regressions: RegressionFolder()
      )
      .check { choices in
        let disk = SimulatedDisk()
        let mine = try Journal.open(at: "/j", options: .on(disk))
        let other = try Journal.open(at: "/j", options: .on(disk))
        var records: [UInt64] = []
        for _ in 0..<choices.draw(in: 1...8) {
          if choices.chance(1, in: 3) {
            let done = try other.append([JournalDraft(kind: 2, payload: [])])
            records += done.appended.map(\.sequence)
          }
          let last = records.last ?? 0
          let expected = choices.pick([last, last + 1, records.dropLast().last ?? 7]) ?? last
          let isRight = expected == last
          do {
            let done = try mine.append([JournalDraft(kind: 1, payload: [])], ifLastIs: expected)
            try choices.require(isRight, "appended behind \(last), expected \(expected)")
            records += done.appended.map(\.sequence)
          } catch let error as JournalError {
            let conflict = JournalError.conflict(path: "/j", expected: expected, found: last)
            try choices.require(error == conflict && !isRight, "\(error)")
          }
        }
        let found = try JournalReader.records(at: "/j", on: disk)
        try choices.require(found == records, "\(found) for \(records)")
      })
  }

  @Test("J21 JRN-2 What is wrong with one batch of a write is not the others' harm")
  func neighbours() {
    expect(
      Property("a bad batch fails alone", cases: 100, regressions: RegressionFolder()).check {
        choices in
        let disk = SimulatedDisk()
        var options = Journal.Options(maximumRecordSize: 64).on(disk)
        options.room = .none
        let journal = try Journal.open(at: "/j", options: options)
        let batches = (0..<choices.draw(in: 1...5)).map { _ in
          let size = choices.chance(1, in: 3) ? 65 : choices.draw(in: 0...64)
          return [JournalDraft(kind: 1, payload: [UInt8](repeating: 5, count: size))]
        }
        for (drafts, outcome) in zip(batches, journal.append(together: batches)) {
          let isBad = drafts[0].payload.count > 64
          switch outcome {
          case .success(let done): try choices.require(!isBad && done.appended.count == 1, "taken")
          case .failure(let error): try choices.require(isBad, "refused: \(error)")
          }
        }
      })
  }
}

extension JournalReader {
  /// The sequences of all records.
  fileprivate static func records(at path: String, on disk: SimulatedDisk) throws -> [UInt64] {
    var reader = try JournalReader(path: path, on: disk)
    var sequences: [UInt64] = []
    while let record = try reader.next() { sequences.append(record.sequence) }
    return sequences
  }
}
