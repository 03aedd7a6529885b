@_spi(Internals) package import SessionCore
@_spi(Internals) package import SessionTestKit

extension CoordinatorRun {
  /// Makes a run of drawn moves, records each as a step, and finishes the run.
  ///
  /// There are up to `length` moves. At the end faults stop, timers fire and the session is closed.
  /// If no policy is given, it is drawn. Throws the first rule that does not hold.
  package static func random(
    _ choices: Choices, policy: SessionPolicy? = nil, rules: Set<CoordinatorRule>,
    upTo length: Int = 60
  ) throws(Falsified) -> CoordinatorRun {
    let policy = policy ?? choices.usedPolicy()
    var run = CoordinatorRun(policy, rules: rules)
    run.hostClears = choices.chance(1, in: 3)
    try run.told(choices, "opened with policy \(policy.name)") { (run) throws(Falsified) in
      try run.open()
    }
    var failure: Falsified?
    choices.repeating(upTo: length, mean: 24) {
      guard failure == nil else { return }
      let move = choices.move(of: run)
      do throws(Falsified) {
        try run.told(choices, "\(move)") { (run) throws(Falsified) in try run.make(move) }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    try run.told(choices, "faults stop, timers go off, the session is closed") {
      (run) throws(Falsified) in try run.finish()
    }
    return run
  }

  private mutating func told(
    _ choices: Choices, _ text: String, _ body: (inout CoordinatorRun) throws(Falsified) -> Void
  ) throws(Falsified) {
    defer {
      choices.step(text, state: line)
      for effect in lastEffects { choices.step("  → \(effect.line)") }
    }
    try body(&self)
  }
}
