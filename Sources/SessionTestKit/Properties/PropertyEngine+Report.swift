import Foundation

extension PropertyEngine {
  /// Returns the report; saves the failing case if the property has a folder for it.
  mutating func report() -> PropertyReport {
    let outcome = outcome()
    return PropertyReport(
      property: property.name, seed: seed, outcome: outcome, tally: tally,
      coverage: coverage ?? searched, savedCases: savedCases, warnings: warnings,
      journals: failure?.journal.map { [$0] } ?? [], showsLabels: property.settings.showsLabels)
  }

  private mutating func outcome() -> PropertyReport.Outcome {
    if let failure {
      let told = tell(failure)
      return failure.isFlaky ? .flaky(told) : .failed(told)
    }
    if problems.isEmpty, coverage != .replayed { problems = health() }
    return problems.isEmpty ? .passed : .unhealthy(problems)
  }

  private func health() -> [PropertyHealthIssue] {
    let whole = tally.cases + tally.discarded + tally.overruns
    if whole == 0 { return [.noCases] }
    if tally.discarded > whole / 10 * 9 + whole % 10 * 9 / 10 {
      return [.discarded(tally.discarded, of: whole)]
    }
    if tally.overruns > Self.patience || tally.cases == 0 {
      return [.overran(tally.overruns, of: whole)]
    }
    return property.requiredLabels.filter { tally.labels[$0] == nil }
      .map { .labelMissing($0, cases: tally.cases) }
  }

  private var searched: PropertyReport.Coverage {
    guard case .exhaustive(_, let depth, let width) = search else { return .sampled }
    guard isExhausted else { return .firstCases }
    if tally.passedOver > 0 { return .someCases }
    return isNarrowed ? .everyCaseWithin(depth: depth, width: width) : .everyCase
  }

  private mutating func tell(_ verdict: Examination.Verdict) -> PropertyFailure {
    let code = ReplayCode(property: property.name, draws: verdict.draws)
    let replay = code.text
    warn(verdict.complaints)
    let (command, problem) = ReplayFile.replay(code)
    problem.map { warnings.append($0) }
    return PropertyFailure(
      message: verdict.fault.message, choices: verdict.draws.trimmed, steps: verdict.steps,
      replay: replay, replayCommand: command, caseNumber: verdict.number,
      firstDraws: verdict.firstDraws, shrinkRuns: verdict.shrinkRuns,
      shrinkStop: verdict.shrinkStop,
      savedAt: verdict.savedAt ?? save(verdict, replay))
  }

  private mutating func save(_ verdict: Examination.Verdict, _ replay: String) -> String? {
    guard let folder = property.regressions, coverage != .replayed, !verdict.isFlaky,
      verdict.isConfirmed
    else {
      return nil
    }
    do {
      return try folder.save(
        Regression(
          property: property.name, replay: replay, message: verdict.fault.message,
          steps: verdict.steps))
    } catch {
      warnings.append(
        "the failing case could not be saved in \(folder.path): "
          + RegressionFolder.reason(error))
      return nil
    }
  }
}
