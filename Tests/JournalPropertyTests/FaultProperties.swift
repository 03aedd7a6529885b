import SessionJournal
import SessionTestKit
import Testing

@Suite("The journal and a disk that fails")
struct FaultProperties {
  static let faults: [DiskFault] = [
    .inputOutput, .noSpace, .interrupted, .shortWrite(1), .shortWrite(40),
    .failedSync(written: 0, evicting: false), .failedSync(written: .max, evicting: false),
    .failedSync(written: 0x5555, evicting: false), .failedSync(written: 0xAAAA, evicting: true),
    .failedSync(written: 0, evicting: true),
  ]

  @Test(
    "J6 JRN-2 after any fault at any call an error is reported, and memory never exceeds the file")
  func everyFaultAtEveryCall() throws {
    let calls = try CrashProperties.calls()
    expect(
      Property(
        "a fault at any call loses nothing that was acknowledged", regressions: RegressionFolder()
      ).exhaustive { choices in
        let call = choices.pick(calls)?.number ?? 0
        let fault = choices.pick(Self.faults) ?? .inputOutput
        try choices.look(Sweep("every fault at every call", takingOneOf: 10))
        let disk = SimulatedDisk()
        disk.fail(atCall: call, with: fault)
        var run = JournalRun(disk)
        for step in JournalRun.script {
          choices.step("\(step)")
          try run.perform(step)
        }
        guard let struck = disk.trace.first(where: { $0.fault != nil }) else { throw Discard() }
        choices.step("\(struck)")
        choices.label("\(struck.operation.rawValue) fails")
        let cut = CrashProperties.cut(choices.draw(below: 3), seed: UInt64(call))
        var recovery = Recovery(disk.crash(cut), run.oracle)
        try recovery.verify()
      })
  }

  @Test("J7 JRN-2 a write without room at any byte is undone")
  func noRoom() throws {
    expect(
      Property("no room after any number of bytes", regressions: RegressionFolder()).exhaustive {
        choices in
        let disk = SimulatedDisk()
        var run = JournalRun(disk)
        try run.perform([.append([40]), .append([100])])
        let before = disk.contents(of: journalPath)
        let room = choices.draw(in: 0...250)
        disk.room = room
        try run.perform(.append([80, 90]))
        let isRefused = room < 32 + 80 + 32 + 96
        try choices.require(
          !isRefused || disk.contents(of: journalPath) == before,
          "bytes of a refused batch are left")
        disk.room = nil
        try run.perform([.append([30]), .page])
        let cut = CrashProperties.cut(choices.draw(below: 3), seed: 3)
        var recovery = Recovery(disk.crash(cut), run.oracle)
        try recovery.verify()
      })
  }

  @Test("J8 JRN-2 a failed sync is not repeated, and no other call follows")
  func noSecondSync() throws {
    let syncs = try CrashProperties.calls().filter { $0.operation == .synchronizeData }
    #expect(syncs.count >= 8)
    for sync in syncs {
      for fault in Self.faults where fault != .shortWrite(1) && fault != .shortWrite(40) {
        let disk = SimulatedDisk()
        disk.fail(atCall: sync.number, with: fault)
        var run = JournalRun(disk)
        for step in JournalRun.script {
          try run.perform(step)
          if disk.trace.contains(where: { $0.fault != nil }) { break }
        }
        // After the failure, the handle makes no call except to release the lock.
        let later = disk.trace.drop { $0.fault == nil }.dropFirst()
        #expect(later.allSatisfy { $0.operation == .unlock }, "\(Array(later))")
      }
    }
  }
}
