import Foundation

/// The result of checking a property: a value that any test library can record.
///
/// `text` contains everything that a reader needs, with or without a test library.
public struct PropertyReport: Sendable {
  /// The outcome of a check.
  public enum Outcome: Sendable {
    /// Every case held.
    case passed
    /// A case failed, and fails again each time its draws are replayed.
    case failed(PropertyFailure)
    /// A case failed, but held when its draws were replayed: the outcome depends on more than the
    /// draws.
    case flaky(PropertyFailure)
    /// Too little was tested for the property to count as checked.
    case unhealthy([PropertyHealthIssue])
  }

  /// The cases that a check ran.
  public enum Coverage: Hashable, Sendable {
    /// Random cases.
    case sampled
    /// Every possible case.
    case everyCase
    /// Every case whose draws stay within the given depth and width.
    case everyCaseWithin(depth: Int?, width: UInt64?)
    /// The first cases of an enumeration, up to its limit; there are more.
    case firstCases
    /// Some cases from all parts of an enumeration, as the default share of a sweep takes them.
    case someCases
    /// One case, replayed from its code.
    case replayed
  }

  /// The property's name.
  public let property: String
  /// The seed of its random cases.
  public let seed: UInt64
  /// How it ended.
  public let outcome: Outcome
  /// The cases that ran and were not discarded.
  public let cases: Int
  /// The cases that were discarded.
  public let discarded: Int
  /// The cases that asked for more than 65,536 draws and did not fail; they are not in `cases`.
  public let overruns: Int
  /// The number of cases in which each label occurred.
  public let labels: [String: Int]
  /// The cases that the check covered.
  public let coverage: Coverage
  /// The number of saved cases that were run first.
  public let savedCases: Int
  /// Problems that did not fail the property, such as stale saved cases or files that were not
  /// written.
  public let warnings: [String]
  /// The paths of the journals that show the failing case.
  public private(set) var journals: [String]
  let showsLabels: Bool

  init(
    property: String, seed: UInt64, outcome: Outcome, tally: PropertyTally, coverage: Coverage,
    savedCases: Int, warnings: [String], journals: [String], showsLabels: Bool
  ) {
    self.property = property
    self.seed = seed
    self.outcome = outcome
    cases = tally.cases
    discarded = tally.discarded
    overruns = tally.overruns
    labels = tally.labels
    self.coverage = coverage
    self.savedCases = savedCases
    self.warnings = warnings
    self.journals = journals
    self.showsLabels = showsLabels
  }

  /// Whether the property held and was tested enough.
  public var hasPassed: Bool {
    if case .passed = outcome { true } else { false }
  }

  /// The failing case in its simplest known form; `nil` if none failed.
  public var failure: PropertyFailure? {
    switch outcome {
    case .failed(let failure), .flaky(let failure): failure
    case .passed, .unhealthy: nil
    }
  }

  /// Adds the path of a journal that shows the failing case; the text then names the command to
  /// inspect it.
  public mutating func attach(journal path: String) {
    journals.append(path)
  }
}

/// A case for which a property does not hold.
public struct PropertyFailure: Sendable {
  /// A sentence that says what does not hold.
  public let message: String
  /// The draws of the simplest case that was found, without the zeros at its end.
  public let choices: [UInt64]
  /// The steps of the case: the actions of the body, and between them those of a simulated world.
  public let steps: [Step]
  /// The replay code of the case: a value for `SESSION_REPLAY`.
  public let replay: String
  /// The replay code, or the path of a file that holds it if it is long.
  let replayCommand: String
  /// The number of the case that failed first, from 1; 0 if it was a saved or replayed case.
  public let caseNumber: Int
  /// The number of draws of the first failing case.
  public let firstDraws: Int
  /// The number of cases that the shrinker tried.
  public let shrinkRuns: Int
  /// Why the shrinker stopped early; `nil` if it did not.
  public let shrinkStop: String?
  /// The path of the file in which the case is saved; `nil` if it is not saved.
  public let savedAt: String?
}

/// A reason why a property counts as not tested enough although no case failed.
public enum PropertyHealthIssue: Hashable, Sendable, CustomStringConvertible {
  /// More than nine cases in ten were discarded.
  case discarded(Int, of: Int)
  /// More than sixteen cases, or all of them, asked for more than 65,536 draws.
  case overran(Int, of: Int)
  /// A required label occurred in no case.
  case labelMissing(String, cases: Int)
  /// The case of the replay code cannot be run, or was discarded.
  case replay(String)
  /// The task was cancelled.
  case cancelled(cases: Int, of: Int)
  /// The given bounds of the enumeration are invalid.
  case bounds(String)
  /// A case of an enumeration without a depth asked for more than 65,536 draws.
  ///
  /// `cases` is the number of cases that held before.
  case endless(cases: Int)
  /// No case was run.
  case noCases

  /// A sentence that says what is wrong, and what to do.
  public var description: String {
    switch self {
    case .discarded(let count, let whole):
      "\(count) of \(whole.counted("case")) were discarded, more than nine in ten: generate "
        + "the wanted cases instead of discarding the others"
    case .overran(let count, let whole):
      "\(count) of \(whole.counted("case")) asked for more than \(ChoiceState.maximumDraws) draws: "
        + "let a draw of 0 end every loop"
    case .labelMissing(let label, let cases):
      "none of \(cases.counted("case")) was labelled \"\(label.onOneLine)\", which is required: the generator does not "
        + "reach it, or too few cases ran"
    case .replay(let reason): "SESSION_REPLAY: \(reason)"
    case .cancelled(let cases, let whole):
      "cancelled after \(cases) of \(whole.counted("case")): allow more time, or ask for fewer"
    case .bounds(let reason): "nothing was enumerated: \(reason)"
    case .endless(let cases):
      "the enumeration has no end: after \(cases.counted("case")), one asked for more than "
        + "\(ChoiceState.maximumDraws) draws; set a depth, or let a draw of 0 end every loop"
    case .noCases: "no case was run: ask for at least one"
    }
  }
}

/// The counts of the cases that ran.
struct PropertyTally: Sendable {
  var cases = 0
  var discarded = 0
  /// The cases of an enumeration that a sweep left out.
  var passedOver = 0
  var overruns = 0
  var labels: [String: Int] = [:]

  /// Counts a case that held or overran.
  mutating func count(_ findings: CaseFindings) {
    if findings.isOverrun {
      overruns += 1
    } else {
      cases += 1
      count(findings.labels)
    }
  }

  mutating func count(_ found: Set<String>) {
    for label in found { labels[label, default: 0] += 1 }
  }
}

extension Int {
  /// Returns the number and its noun, in the plural unless the number is 1.
  func counted(_ noun: String) -> String {
    self == 1 ? "1 \(noun)" : "\(self) \(noun)s"
  }
}

extension PropertyReport {
  /// Returns the name and the bytes of a journal's file, or `nil` if it cannot be read.
  package static func journal(at path: String) -> (name: String, bytes: [UInt8])? {
    guard let bytes = FileManager.default.contents(atPath: path) else { return nil }
    return (URL(filePath: path).lastPathComponent, Array(bytes))
  }
}
