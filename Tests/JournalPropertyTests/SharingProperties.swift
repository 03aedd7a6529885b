import SessionJournal
import SessionTestKit
import SessionTesting
import Testing

@Suite("Two processes and a disk that fails")
struct SharingProperties {
  private static let script: [(place: Int, step: JournalStep)] = [
    (0, .append([40])), (1, .append([3, 300])), (0, .transact([9])), (1, .catchUp), (1, .page),
    (0, .append([20])), (1, .transact([10])), (0, .append([11])), (1, .append([8])),
    (1, .catchUp), (0, .close), (1, .append([7])), (0, .catchUp),
  ]

  /// The fault of one call of one process.
  static let faults: [DiskFault] = [
    .inputOutput, .noSpace, .interrupted, .shortWrite(33),
    .failedSync(written: 0, evicting: false), .failedSync(written: 0, evicting: true),
    .death(afterBytes: 0), .death(afterBytes: 35),
  ]

  @Test(
    "J16 JRN-1 JRN-2 a fault of one process at any call harms no other process and leaves no lock")
  func faults() throws {
    let dry = SimulatedDisk()
    var run = JournalRun(dry, processes: 2)
    for (place, step) in Self.script { try run.perform(step, by: place) }
    let calls = dry.trace
    #expect(calls.count > 80)
    expect(
      Property("a fault of one process harms no other", regressions: RegressionFolder()).exhaustive
      { choices in
        let call = choices.pick(calls)?.number ?? 0
        let fault = choices.pick(Self.faults) ?? .inputOutput
        try choices.look(Sweep("faults of one process", takingOneOf: 5))
        let disk = SimulatedDisk()
        disk.fail(atCall: call, with: fault)
        var run = JournalRun(disk, processes: 2)
        for (place, step) in Self.script {
          choices.step("p\(place) \(step)")
          try run.perform(run.isAlive(place) ? step : .replaceProcess, by: place)
        }
        guard let struck = disk.trace.first(where: { $0.fault != nil }) else { throw Discard() }
        choices.step("\(struck)")
        // Each fault meets each kind of cut, a different one at two of three calls.
        let cut = CrashProperties.cut(UInt64(call % 3), seed: UInt64(call))
        var recovery = Recovery(disk.crash(cut), run.oracle)
        try recovery.verify()
      })
  }
}
