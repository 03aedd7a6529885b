import SessionJournal
import SessionTestKit
import Testing

@Suite("The journal and a disk that stops")
struct CrashProperties {
  /// Everything kept, everything lost, or drawn.
  static func cut(_ number: UInt64, seed: UInt64) -> PowerCut {
    switch number {
    case 0: .keepingAll
    case 1: .losingAll
    default: .drawn(from: Choices(seed: seed &* 31 &+ number))
    }
  }

  /// The calls of the script without a fault.
  static func calls() throws -> [DiskCall] {
    let disk = SimulatedDisk()
    var run = JournalRun(disk)
    try run.perform(JournalRun.script)
    return disk.trace
  }

  @Test("J1 JRN-2 a crash before and after every call keeps every acknowledged record")
  func crashBetweenCalls() throws {
    let calls = try Self.calls()
    #expect(calls.count > 100)
    #expect(Set(calls.map(\.operation)).count >= 12)
    expect(
      Property(
        "a crash before every call keeps what was acknowledged", regressions: RegressionFolder()
      ).exhaustive { choices in
        let number = choices.draw(below: UInt64(calls.count + 1))
        let disk = SimulatedDisk()
        disk.fail(atCall: Int(number), with: .death(afterBytes: 0))
        var run = JournalRun(disk)
        try run.perform(JournalRun.script)
        let cut = Self.cut(choices.draw(below: 5), seed: number)
        var recovery = Recovery(disk.crash(cut), run.oracle)
        try recovery.verify()
      })
  }

  @Test("J2 JRN-2 a crash inside every write keeps every acknowledged record")
  func crashInsideWrites() throws {
    let writes = try Self.calls().filter { $0.operation == .write }
    #expect(writes.count >= 9)
    expect(
      Property(
        "a crash inside every write keeps what was acknowledged", regressions: RegressionFolder()
      ).exhaustive { choices in
        guard let write = choices.pick(writes) else { return }
        let bytes = choices.draw(in: 1...write.bytes)
        try choices.look(Sweep("crash inside writes", takingOneOf: 10))
        let disk = SimulatedDisk()
        disk.fail(atCall: write.number, with: .death(afterBytes: bytes))
        var run = JournalRun(disk)
        try run.perform(JournalRun.script)
        // All cuts at each byte of a small write; one of them at each byte of a large write.
        let number = write.bytes > 70 ? UInt64(bytes % 3) : choices.draw(below: 3)
        let cut = Self.cut(number, seed: UInt64(bytes))
        var recovery = Recovery(disk.crash(cut), run.oracle)
        try recovery.verify()
      })
  }

  @Test(
    "J3 JRN-2 a crash at any call of a recovery, and of the next recovery, loses nothing")
  func crashInRecovery() throws {
    // A commit of several sectors stops in the middle: torn in one cut, garbled in others.
    var base = JournalRun(SimulatedDisk())
    try base.perform([.append([40]), .append([3, 600])])
    base.disk.fail(atNext: .write, with: .death(afterBytes: 900))
    try base.perform(.append([1400]))
    #expect(!base.isAlive())
    #expect(base.disk.trace.last?.operation == .write)
    let oracle = base.oracle
    let disk = base.disk
    expect(
      Property("a crash in every call of a recovery loses nothing", regressions: RegressionFolder())
        .exhaustive { choices in
          let first = disk.crash(Self.cut(choices.draw(below: 6), seed: 7))
          first.fail(
            atCall: Int(choices.draw(below: 32)), with: .death(afterBytes: choices.draw(in: 0...1)))
          var second = JournalRun(first, oracle: oracle)
          try second.perform(.page)
          let cut = Self.cut(choices.draw(below: 4), seed: 11)
          var recovery = Recovery(first.crash(cut), second.oracle)
          try recovery.verify()
        })
  }

  @Test("J4 JRN-2 any subset of the unsynced sectors of a commit leaves all of it or nothing")
  func subsets() throws {
    let disk = SimulatedDisk()
    var run = JournalRun(disk)
    try run.perform([.append([40]), .append([300])])
    disk.fail(atNext: .synchronizeData, with: .death(afterBytes: 0))
    try run.perform(.append([400, 500, 300]))
    #expect(disk.trace.last?.operation == .synchronizeData)
    #expect(disk.unsyncedSectors.count == 4)
    let oracle = run.oracle
    expect(
      Property(
        "every subset of unsynced sectors is recovered from", regressions: RegressionFolder()
      ).exhaustive { choices in
        let cut = PowerCut(
          sector: { _ in choices.pick([.new, .old, .zeros, .garbage(9), .tornBehind(200)]) ?? .new
          },
          size: { choices.pick($0 + [$0.reduce(0, +) / $0.count]) ?? 0 })
        var recovery = Recovery(disk.crash(cut), oracle)
        try recovery.verify()
      })
  }

  /// A commit that is written and not synced, in this number of sectors.
  private static func unsynced(_ sectors: Int) throws -> (disk: SimulatedDisk, JournalOracle) {
    let disk = SimulatedDisk()
    var run = JournalRun(disk)
    try run.perform([.append([40]), .append([300])])
    disk.fail(atNext: .synchronizeData, with: .death(afterBytes: 0))
    try run.perform(.append(Array(repeating: 480, count: sectors)))
    #expect(disk.trace.last?.operation == .synchronizeData)
    #expect(disk.unsyncedSectors.count == sectors + 1)
    return (disk, run.oracle)
  }

  @Test(
    "J4 JRN-2 any subset of two, five or ten unsynced sectors leaves all or nothing")
  func subsetsOfTen() throws {
    let commits = try [1, 4, 9].map { try Self.unsynced($0) }
    expect(
      Property(
        "every subset of ten unsynced sectors is recovered from",
        regressions: RegressionFolder()
      ).exhaustive { choices in
        guard let (disk, oracle) = choices.pick(commits) else { return }
        let written = choices.draw(below: 1 << UInt64(disk.unsyncedSectors.count))
        let lost = choices.pick([.old, .zeros, .garbage(9)] as [SectorFate]) ?? .old
        try choices.look(Sweep("subsets of ten sectors", takingOneOf: 10))
        var number: UInt64 = 0
        let cut = PowerCut(sector: { _ in
          defer { number += 1 }
          return written >> number & 1 == 1 ? .new : lost
        })
        var recovery = Recovery(disk.crash(cut), oracle)
        try recovery.verify()
      })
  }

  @Test("J4 JRN-2 sampled fates and sizes of forty unsynced sectors leave all or nothing")
  func subsetsOfMany() throws {
    let (disk, oracle) = try Self.unsynced(39)
    let sweep = Sweep("forty sectors", takingOneOf: 8)
    expect(
      Property(
        "sampled fates of forty unsynced sectors are recovered from", cases: sweep.cases(of: 300),
        regressions: RegressionFolder()
      ).check { choices in
        var recovery = Recovery(disk.crash(choices), oracle)
        try recovery.verify()
      })
  }
}
