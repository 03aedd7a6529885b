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
      let text = tell(failure)
      return failure.isFlaky ? .flaky(text) : .failed(text)
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

/// The value of `SESSION_REPLAY`: a replay code, or the path of a file that holds one.
///
/// The file holds only the code, or is a saved case. A code longer than 2,000 characters is written
/// to a file, since terminals and environments limit the length of a value.
enum ReplayFile {
  static let longest = 2_000

  /// Returns the replay code that a value contains or names; throws the reason if there is none.
  static func code(_ value: String) throws(Unreadable) -> ReplayCode {
    var text = value
    if value.contains("/") {
      do {
        text = try String(contentsOfFile: value, encoding: .utf8)
      } catch {
        throw Unreadable(
          reason: "\(value) cannot be read: \((error as NSError).localizedDescription)")
      }
      let lines = text.split { $0.isNewline }
      text = String(lines.first { $0.hasPrefix("replay:") }?.dropFirst(7) ?? text[...])
    }
    do {
      return try ReplayCode(text.filter { !$0.isWhitespace })
    } catch {
      throw Unreadable(reason: error.description)
    }
  }

  struct Unreadable: Error {
    let reason: String
  }

  /// Returns the value for the variable.
  ///
  /// If a long code could not be written to a file, the value is the code itself, and `problem`
  /// says why.
  static func replay(_ code: ReplayCode) -> (value: String, problem: String?) {
    let text = code.text
    guard text.utf8.count > longest else { return (text, nil) }
    let folder = FileManager.default.temporaryDirectory.appending(path: "session-replays")
    let file = folder.appending(path: String(StableHash.hash(text), radix: 16) + ".replay")
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
      return (file.path, nil)
    } catch {
      let reason = (error as NSError).localizedDescription
      return (text, "the replay code could not be written to \(file.path): \(reason)")
    }
  }
}
