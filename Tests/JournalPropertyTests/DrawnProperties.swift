import SessionJournal
import SessionTestKit
import Testing

@Suite("The journal under all faults together")
struct DrawnProperties {
  static func step(_ choices: Choices) -> JournalStep {
    switch choices.draw(below: 10) {
    case 0, 1: .append(sizes(choices))
    case 2: .transact(sizes(choices))
    case 3: .catchUp
    case 4: .page
    case 5: .close
    case 6: .replaceProcess
    case 7: .rewrite
    case 8: .together((0..<choices.draw(in: 1...3)).map { _ in sizes(choices) })
    default: .append([choices.draw(in: 400...3000)])
    }
  }

  private static func sizes(_ choices: Choices) -> [Int] {
    (0..<choices.draw(in: 1...4)).map { _ in choices.draw(in: 0...300) }
  }

  @Test(
    "J5 JRN-1 JRN-2 JRN-4 any run with faults, deaths, compactions and power cuts loses no acknowledged record"
  )
  func lives() {
    expect(
      Property(
        "a journal keeps what it acknowledged through any life",
        cases: Sweep("lives of a journal", takingOneOf: 2).cases(of: 300),
        requiredLabels: ["compactions", "faults", "room", "left to the system"],
        regressions: RegressionFolder()
      ).check {
        choices in
        var disk = SimulatedDisk()
        var oracle = JournalOracle()
        for _ in 0..<choices.draw(in: 1...3) {
          oracle = try Self.live(on: disk, oracle, choices)
          // A process death loses nothing; a power cut loses what only the system had.
          if choices.chance(1, in: 4) {
            var survivors = Recovery(disk.crash(.keepingAll), oracle)
            try survivors.verify()
          }
          disk = disk.crash(choices)
          choices.step("the power fails")
          oracle.powerFails()
        }
        var recovery = Recovery(disk, oracle)
        try recovery.verify()
      })
  }

  /// Up to three processes and twelve steps, with their results.
  private static func live(on disk: SimulatedDisk, _ oracle: JournalOracle, _ choices: Choices)
    throws -> JournalOracle
  {
    let processes = choices.draw(in: 1...3)
    let room = PreallocationRule(step: choices.pick([0, 512, 2048]) ?? 0)
    if room != .none { choices.label("room") }
    let lazy = choices.chance(1, in: 4) ? choices.draw(in: 1...processes) : 0
    if lazy > 0 { choices.label("left to the system") }
    let compacts = choices.chance(1, in: 2)
    if compacts { choices.label("compactions") }
    var run = JournalRun(
      disk, processes: processes, oracle: oracle, room: room, lazyProcesses: lazy)
    // A failed sync may drop what only the system had, from any process.
    if lazy == 0, !choices.chance(1, in: 3) {
      disk.drawFaults(from: choices, oneIn: 70)
      choices.label("faults")
    }
    defer {
      disk.stopFaults()
      for call in disk.trace where call.fault != nil { choices.step("\(call)") }
    }
    for _ in 0..<choices.draw(in: 0...12) {
      try choices.span {
        let place = choices.draw(in: 0...(processes - 1))
        let next = compacts ? compactingStep(choices) : step(choices)
        let step = run.isAlive(place) ? next : .replaceProcess
        choices.step("p\(place) \(step)")
        try run.perform(step, by: place)
        if choices.chance(1, in: 8) { disk.writeBack(choices) }
      }
    }
    return run.oracle
  }

  /// Like `step`, but one in three steps compacts.
  static func compactingStep(_ choices: Choices) -> JournalStep {
    choices.chance(1, in: 3) ? .compact(choices.draw(in: 0...6)) : step(choices)
  }
}
