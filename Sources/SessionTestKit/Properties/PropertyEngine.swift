import Foundation

/// The decisions of a property's run: which case comes next, and what the report says.
///
/// It runs no case itself.
struct PropertyEngine {
  enum Search: Sendable {
    case random
    case exhaustive(limit: Int, depth: Int?, width: UInt64?)
  }

  enum Phase {
    /// Runs the saved case at this index.
    case saved(Int)
    case search
    /// Runs one case from its replay code.
    case replay(ReplayCode)
    /// Runs the first failing case again, and then simpler forms of it.
    case examine(Examination)
    case done
  }

  let property: Property
  let search: Search
  let seed: UInt64
  let caseLimit: Int
  let files: [RegressionFolder.File]
  var phase: Phase
  var tally = PropertyTally()
  var savedCases = 0
  var attempts = 0
  var isExhausted = false
  var isNarrowed = false
  var odometer: Choices?
  var failure: Examination.Verdict?
  var problems: [PropertyHealthIssue] = []
  var warnings: [String]
  var coverage: PropertyReport.Coverage?

  init(_ property: Property, _ search: Search) {
    let settings = property.settings
    self.property = property
    self.search = search
    seed = settings.seed ?? property.seed ?? StableHash.hash(property.name)
    warnings = settings.complaints
    switch search {
    case .random:
      caseLimit = property.cases.multipliedSaturating(by: settings.multiplier)
    case .exhaustive(let limit, let depth, let width):
      caseLimit = limit
      odometer = Choices(
        depth: max(0, depth ?? ChoiceState.maximumDraws), width: width ?? .max)
      if let depth, depth < 0 { problems.append(.bounds("the depth is \(depth), less than 0")) }
      if width == 0 { problems.append(.bounds("the width is 0, and no draw is below 0")) }
    }
    files = property.regressions?.files(of: property.name) ?? []
    phase = problems.isEmpty ? .saved(0) : .done
    if let text = settings.replay, problems.isEmpty {
      do {
        let code = try ReplayFile.code(text)
        if code.isOf(property: property.name) { phase = .replay(code) }
      } catch {
        problems = [.replay(error.reason)]
        phase = .done
      }
    }
    odometer.map { watch($0, "a case of the enumeration") }
  }

  /// Sets what happens if the case never ends: it is printed, and the process ends.
  private func watch(_ choices: Choices, _ name: String) {
    let property = property.name
    let seed = seed
    choices.endless { draws in
      EndlessCase(property: property, seed: seed, name: name).end(draws)
    }
  }

  /// Returns the next case to run, or `nil` when the report is ready.
  ///
  /// Report the outcome of the case with `learn`.
  mutating func next() -> Choices? {
    while true {
      switch phase {
      case .saved(let index):
        guard index < files.count else {
          phase = .search
          continue
        }
        if let choices = saved(at: index) {
          watch(choices, "the saved case \(files[index].path)")
          return choices
        }
        phase = .saved(index + 1)
      case .search:
        if let choices = nextOfSearch() { return choices }
        phase = .done
      case .replay(let code):
        coverage = .replayed
        let choices = Choices(replaying: code.draws, isTracing: true)
        watch(choices, "the replayed case")
        return choices
      case .examine(var examination):
        // The value is taken out of the enumeration first, so that the shrinker's sets are not
        // copied.
        phase = .done
        if let choices = examination.next() {
          phase = .examine(examination)
          watch(choices, examination.name)
          return choices
        }
        failure = examination.verdict
      case .done:
        return nil
      }
    }
  }

  mutating func learn(_ outcome: CaseOutcome, _ choices: Choices, isCancelled: Bool) {
    guard !isCancelled else {
      cancel(outcome, choices)
      return
    }
    switch phase {
    case .saved(let index): learnOfSaved(outcome, choices, at: index)
    case .search: learnOfSearch(outcome, choices)
    case .replay: learnOfReplay(outcome, choices)
    case .examine(var examination):
      phase = .done
      examination.learn(outcome, choices)
      phase = .examine(examination)
    case .done: break
    }
  }

  /// Ends the run because the task was cancelled.
  ///
  /// A failure in a cancelled task is not counted, since the cancellation may have caused it.
  private mutating func cancel(_ outcome: CaseOutcome, _ choices: Choices) {
    switch phase {
    case .saved, .search, .replay:
      if case .held = outcome { tally.cases += 1 }
      problems.append(.cancelled(cases: tally.cases, of: caseLimit))
      phase = .done
    case .examine(var examination):
      examination.cancel(outcome, choices)
      phase = .examine(examination)
    case .done: break
    }
  }
}

extension PropertyEngine {
  /// The greatest number of cases that may overrun; each takes as long as thousands of others.
  static let patience = 16

  private mutating func nextOfSearch() -> Choices? {
    guard tally.overruns <= Self.patience else { return nil }
    switch search {
    case .random:
      // After ten attempts per case, more than nine in ten were discarded.
      guard tally.cases < caseLimit, attempts < caseLimit.multipliedSaturating(by: 10)
      else { return nil }
      attempts += 1
      var mix = SplitMix(seed: seed &+ UInt64(attempts))
      let choices = Choices(seed: mix.next())
      watch(choices, "case \(attempts)")
      return choices
    case .exhaustive:
      guard !isExhausted, attempts < caseLimit else { return nil }
      attempts += 1
      return odometer
    }
  }

  /// Adds each warning once, even if several cases caused it.
  mutating func warn(_ texts: [String]) {
    for text in texts where !warnings.contains(text) { warnings.append(text) }
  }

  private mutating func learnOfSearch(_ outcome: CaseOutcome, _ choices: Choices) {
    let findings = choices.findings
    warn(findings.complaints)
    switch outcome {
    case .held:
      tally.count(findings)
    case .discarded:
      tally.discarded += 1
    case .passedOver:
      tally.passedOver += 1
    case .failed(let fault):
      tally.cases += 1
      phase = .examine(
        Examination(
          fault, draws: choices.recorded, number: attempts, isShrunk: true,
          budget: ShrinkBudget(
            runs: property.shrinkRuns, draws: property.shrinkDraws, time: property.shrinkTime)))
      return
    }
    if let odometer {
      if findings.isTooDeep {
        problems.append(.endless(cases: tally.cases))
        phase = .done
        return
      }
      isNarrowed = isNarrowed || odometer.isNarrowed
      isExhausted = !odometer.advance()
    }
  }

  private mutating func learnOfReplay(_ outcome: CaseOutcome, _ choices: Choices) {
    phase = .done
    warn(choices.complaints)
    switch outcome {
    case .held: tally.cases += 1
    case .discarded, .passedOver:
      tally.discarded += 1
      problems = [
        .replay("the case is discarded now and shows nothing: delete the code, run the property")
      ]
    case .failed(let fault):
      tally.cases += 1
      failure = Examination.Verdict(fault: fault, choices: choices)
    }
    tally.count(choices.labels)
  }

  private mutating func saved(at index: Int) -> Choices? {
    let file = files[index]
    do {
      let regression = try file.content.get()
      let code = try ReplayCode(regression.replay)
      guard regression.isOf(property: property.name), code.isOf(property: property.name) else {
        warnings.append(
          "the saved case \(file.path) belongs to another property and was not run: move it to "
            + "that property's folder, or delete it")
        return nil
      }
      savedCases += 1
      return Choices(replaying: code.draws, isTracing: true)
    } catch let error as Regression.Unreadable {
      warnings.append("the saved case \(file.path) cannot be read: \(error.reason)")
    } catch {
      warnings.append("the saved case \(file.path) cannot be read: \(error)")
    }
    return nil
  }

  private mutating func learnOfSaved(_ outcome: CaseOutcome, _ choices: Choices, at index: Int) {
    let file = files[index]
    phase = .saved(index + 1)
    guard case .success(let regression) = file.content else { return }
    warn(choices.complaints)
    if case .failed(let fault) = outcome {
      tally.cases += 1
      phase = .examine(
        Examination(
          fault, draws: choices.recorded, number: 0, isShrunk: false,
          budget: ShrinkBudget(runs: 0, draws: 0, time: .zero),
          savedAt: file.path))
      return
    }
    if case .discarded = outcome {
      warnings.append(
        "the saved case \(file.path) is stale: it is discarded now; delete it, or write the steps as "
          + "a separate example")
    } else if !regression.isPrefix(of: choices.steps) {
      warnings.append(
        "the saved case \(file.path) is stale: its draws now produce other steps; delete it, or "
          + "write the steps as a separate example")
    } else if regression.status == .open {
      warnings.append(
        "the saved case \(file.path) passes now: write `status: fixed` in it to keep it as a guard, "
          + "or delete it")
    }
  }
}

extension Int {
  fileprivate func multipliedSaturating(by factor: Int) -> Int {
    let (product, isTooGreat) = multipliedReportingOverflow(by: factor)
    return isTooGreat ? .max : product
  }
}

/// A case that never stops drawing.
///
/// Nothing within the process can stop its body. So the process prints which case it is, and ends.
private struct EndlessCase: Sendable {
  let property: String
  let seed: UInt64
  /// The name of the case that ran: "case 7", "the replayed case".
  let name: String

  /// Returns what a reader needs to run the case again.
  func text(_ draws: [UInt64]) -> String {
    let code = ReplayFile.replay(ReplayCode(property: property, draws: draws))
    return """
      Property "\(property)" does not end: \(name) asked for more than \
      \(ChoiceState.endlessDraws) draws.
        Its body continues whatever is drawn. Only the end of the process can stop it.
        Let a draw of 0 end the loop.
      Draws: \(PropertyReport.shortened(draws.trimmed))
      Seed: \(seed)
      Run it again: SESSION_REPLAY=\(code.value) swift test
      """
  }

  /// Prints the text, and ends the process.
  func end(_ draws: [UInt64]) -> Never {
    Aside.tell(text(draws))
    exit(EXIT_FAILURE)
  }
}
