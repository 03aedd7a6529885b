import SessionJournal
import SessionTestKit
import SessionTesting
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

  /// The calls of the script where nothing fails.
  static func calls() throws -> [DiskCall] {
    let disk = SimulatedDisk()
    var run = JournalRun(disk)
    try run.perform(JournalRun.script)
    return disk.trace
  }

  @Test("J1 JRN-2 A crash before and after every call keeps every acknowledged record")
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

  @Test("J2 JRN-2 A crash inside every write keeps every acknowledged record")
  func crashInsideWrites() throws {
    let writes = try Self.calls().filter { $0.operation == .write }
    #expect(writes.count >= 9)
    expect(
      Property(
        "a crash inside every write keeps what was acknowledged", regressions: RegressionFolder()
      ).exhaustive { choices in
        guard let write = choices.pick(writes) else { return }
        // Every byte of a small write, every 61st of a large one.
        let stride = write.bytes > 200 ? 61 : write.bytes > 70 ? 7 : 1
        let bytes = 1 + stride * Int(choices.draw(below: UInt64((write.bytes - 1) / stride + 1)))
        let disk = SimulatedDisk()
        disk.fail(atCall: write.number, with: .death(afterBytes: bytes))
        var run = JournalRun(disk)
        try run.perform(JournalRun.script)
        let cut = Self.cut(choices.draw(below: 3), seed: UInt64(bytes))
        var recovery = Recovery(disk.crash(cut), run.oracle)
        try recovery.verify()
      })
  }

  @Test(
    "J3 JRN-2 A crash at every call of a recovery, and of the recovery from that, loses nothing")
  func crashInRecovery() throws {
    // A commit of several sectors stops half way: torn in one cut, garbled in others.
    var base = JournalRun(SimulatedDisk())
    try base.perform([.append([40]), .append([3, 600])])
    base.disk.fail(atCall: base.disk.callCount + 5, with: .death(afterBytes: 900))
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

  @Test("J4 JRN-2 Every subset of the unsynced sectors of a commit: all of it or nothing")
  func subsets() throws {
    let disk = SimulatedDisk()
    var run = JournalRun(disk)
    try run.perform([.append([40]), .append([300])])
    let start = disk.callCount
    disk.fail(atCall: start + 6, with: .death(afterBytes: 0))
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
}
