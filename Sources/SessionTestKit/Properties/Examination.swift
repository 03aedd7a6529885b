/// Looks at a failing case: does it fail again, what is its simplest form, what happens in that.
struct Examination {
  /// What was found.
  struct Verdict {
    var fault: CaseFault
    var draws: [UInt64]
    var steps: [Step]
    var journal: String?
    var isFlaky = false
    var number = 0
    var firstDraws: Int
    var shrinkRuns = 0
    var savedAt: String?

    init(fault: CaseFault, choices: Choices) {
      self.fault = fault
      draws = choices.recorded.trimmed
      steps = choices.steps
      journal = choices.journal
      firstDraws = draws.count
    }
  }

  private enum Phase {
    case confirm
    case shrink
    case tell
    case done
  }

  private let number: Int
  private let firstDraws: [UInt64]
  private let isShrunk: Bool
  private let budget: Int
  private let savedAt: String?
  private var phase = Phase.confirm
  private var fault: CaseFault
  private var shrinker: Shrinker?
  private(set) var verdict: Verdict?

  init(
    _ fault: CaseFault, draws: [UInt64], number: Int, isShrunk: Bool, budget: Int,
    savedAt: String? = nil
  ) {
    self.fault = fault
    self.number = number
    self.isShrunk = isShrunk
    self.budget = budget
    self.savedAt = savedAt
    firstDraws = draws.trimmed
  }

  mutating func next() -> Choices? {
    switch phase {
    case .confirm:
      return Choices(replaying: firstDraws, isTracing: true)
    case .shrink:
      if let draws = shrinker?.next() { return Choices(replaying: draws, isTracing: false) }
      phase = .tell
      return next()
    case .tell:
      return Choices(replaying: shrinker?.best.draws ?? firstDraws, isTracing: true)
    case .done:
      return nil
    }
  }

  mutating func learn(_ outcome: CaseOutcome, _ choices: Choices) {
    switch phase {
    case .confirm: confirm(outcome, choices)
    case .shrink:
      guard case .failed(let new) = outcome, new.place == fault.place else {
        shrinker?.learn(nil)
        return
      }
      shrinker?.learn(choices.failingCase)
    case .tell:
      conclude(outcome, choices)
    case .done: break
    }
  }

  /// No more simpler cases: tell of the simplest so far.
  mutating func hurry() {
    if phase == .shrink { phase = .tell }
  }

  private mutating func confirm(_ outcome: CaseOutcome, _ choices: Choices) {
    guard case .failed(let again) = outcome, isShrunk else {
      conclude(outcome, choices)
      return
    }
    fault = again
    shrinker = Shrinker(choices.failingCase, budget: budget)
    phase = .shrink
  }

  private mutating func conclude(_ outcome: CaseOutcome, _ choices: Choices) {
    phase = .done
    var verdict = Verdict(fault: fault, choices: choices)
    if case .failed(let last) = outcome { verdict.fault = last } else { verdict.isFlaky = true }
    verdict.number = number
    verdict.firstDraws = firstDraws.count
    verdict.shrinkRuns = shrinker?.runs ?? 0
    verdict.savedAt = savedAt
    self.verdict = verdict
  }
}
