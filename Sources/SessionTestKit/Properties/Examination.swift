/// The examination of a failing case.
///
/// It runs the case again, searches for its simplest form, and records the steps of that form.
struct Examination {
  /// The result of an examination.
  struct Verdict {
    var fault: CaseFault
    var draws: [UInt64]
    var steps: [Step]
    var journal: String?
    var complaints: [String] = []
    var isFlaky = false
    var number = 0
    var firstDraws: Int
    var shrinkRuns = 0
    var shrinkStop: String?
    /// Whether the case was replayed; `false` if the task was cancelled before that replay failed.
    var isConfirmed = true
    var savedAt: String?

    init(fault: CaseFault, choices: Choices) {
      self.fault = fault
      draws = choices.recorded
      steps = choices.steps
      journal = choices.journal
      complaints = choices.complaints
      firstDraws = draws.count
    }

    /// Creates the verdict of a case whose last run gave no result.
    init(fault: CaseFault, draws: [UInt64], isConfirmed: Bool) {
      self.fault = fault
      self.draws = draws
      self.isConfirmed = isConfirmed
      steps = []
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
  private let budget: ShrinkBudget
  private let savedAt: String?
  private var phase = Phase.confirm
  private var fault: CaseFault
  private var shrinker: Shrinker?
  private var deadline: ContinuousClock.Instant?
  private var stop: String?
  private(set) var verdict: Verdict?

  init(
    _ fault: CaseFault, draws: [UInt64], number: Int, isShrunk: Bool, budget: ShrinkBudget,
    savedAt: String? = nil
  ) {
    self.fault = fault
    self.number = number
    self.isShrunk = isShrunk
    self.budget = budget
    self.savedAt = savedAt
    firstDraws = draws
  }

  /// The name of the case that runs next, in case it never ends.
  var name: String {
    let first = number > 0 ? "case \(number)" : "a saved case"
    return phase == .shrink
      ? "a simpler form of \(first), which fails (\(fault.message))," : "\(first), run again,"
  }

  mutating func next() -> Choices? {
    switch phase {
    case .confirm:
      return Choices(replaying: firstDraws, isTracing: true)
    case .shrink:
      let deadline = deadline
      let isOver = { deadline.map { .now >= $0 } ?? false }
      if !isOver(), let draws = shrinker?.next(isOver) {
        return Choices(replaying: draws, isTracing: false)
      }
      stop = isOver() ? "its \(budget.time) were over" : shrinker?.stop
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

  /// Concludes early because the task was cancelled.
  ///
  /// The last run, and any later one, may fail only because of the cancellation.
  mutating func cancel(_ outcome: CaseOutcome, _ choices: Choices) {
    stop = "the task was cancelled"
    if phase == .shrink {
      phase = .tell
    } else if case .failed(let last) = outcome, last.place == fault.place {
      conclude(outcome, choices)
    } else {
      let draws = shrinker?.best.draws ?? firstDraws
      conclude(Verdict(fault: fault, draws: draws, isConfirmed: shrinker != nil))
    }
  }

  private mutating func confirm(_ outcome: CaseOutcome, _ choices: Choices) {
    guard case .failed(let again) = outcome, isShrunk else {
      conclude(outcome, choices)
      return
    }
    fault = again
    shrinker = Shrinker(choices.failingCase, budget: budget)
    deadline = .now + budget.time
    phase = .shrink
  }

  private mutating func conclude(_ outcome: CaseOutcome, _ choices: Choices) {
    var verdict = Verdict(fault: fault, choices: choices)
    if case .failed(let last) = outcome { verdict.fault = last } else { verdict.isFlaky = true }
    conclude(verdict)
  }

  private mutating func conclude(_ found: Verdict) {
    phase = .done
    var verdict = found
    verdict.shrinkStop = stop
    verdict.number = number
    verdict.firstDraws = firstDraws.trimmed.count
    verdict.shrinkRuns = shrinker?.runs ?? 0
    verdict.savedAt = savedAt
    self.verdict = verdict
  }
}
