import SessionJournal
import SessionTestKit
import Testing

@Suite("Reserved room and a disk that stops or fails")
struct RoomProperties {
  private static let script: [(place: Int, step: JournalStep)] = [
    (0, .append([40])), (1, .append([3, 100])), (0, .append([9])), (1, .transact([20, 5])),
    (0, .append([300])), (1, .append([8])), (0, .close), (1, .append([700])), (0, .append([11])),
  ]

  private static func run(_ disk: SimulatedDisk) -> JournalRun {
    JournalRun(disk, processes: 2, room: PreallocationRule(step: 512))
  }

  @Test("JRN-2 with two writers and a fault at any call, reserved room loses no record")
  func faults() throws {
    let dry = SimulatedDisk()
    var run = Self.run(dry)
    for (place, step) in Self.script { try run.perform(step, by: place) }
    let calls = dry.trace
    let faults = FaultProperties.faults + [.death(afterBytes: 0), .death(afterBytes: 35)]
    expect(
      Property("a fault in a room that is shared").exhaustive { choices in
        let call = choices.pick(calls)?.number ?? 0
        let fault = choices.pick(faults) ?? .inputOutput
        try choices.look(Sweep("faults in a room", takingOneOf: 10))
        let disk = SimulatedDisk()
        disk.fail(atCall: call, with: fault)
        var run = Self.run(disk)
        for (place, step) in Self.script {
          choices.step("p\(place) \(step)")
          try run.perform(run.isAlive(place) ? step : .replaceProcess, by: place)
        }
        guard disk.trace.contains(where: { $0.fault != nil }) else { throw Discard() }
        let cut = CrashProperties.cut(UInt64(call % 3), seed: UInt64(call))
        var recovery = Recovery(disk.crash(cut), run.oracle)
        try recovery.verify()
      })
  }

  @Test("JRN-2 zeros after the last batch are room: opening keeps them, and the next batch fits")
  func left() throws {
    let disk = SimulatedDisk()
    var run = JournalRun(disk, room: PreallocationRule(step: 512))
    try run.perform([.append([40]), .append([90])])
    let before = try #require(disk.contents(of: journalPath))
    #expect(before.count == 512)
    try run.perform(.replaceProcess)
    #expect(disk.contents(of: journalPath) == before)
    #expect(!disk.paths.contains { $0.contains(".torn") })
    try run.perform(.append([60]))
    #expect(disk.contents(of: journalPath)?.count == 512)
    var recovery = Recovery(disk.crash(.losingAll), run.oracle)
    try recovery.verify()
  }
}
