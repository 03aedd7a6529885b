/// What came of checking a property: a value, for any test library to record.
///
/// `text` is all that a reader needs, with or without a test library.
public struct PropertyReport: Sendable {
  /// How it ended.
  public enum Outcome: Sendable {
    /// Every case held.
    case passed
    /// A case failed, and fails whenever its draws are replayed.
    case failed(PropertyFailure)
    /// A case failed, and held when the same draws were replayed: something else decides as well.
    case flaky(PropertyFailure)
    /// Too little was tested for the property to count as checked.
    case unhealthy([PropertyHealthIssue])
  }

  /// What was looked at.
  public enum Coverage: Hashable, Sendable {
    /// Random cases.
    case sampled
    /// Every case there is.
    case everyCase
    /// Every case whose draws stay within the depth and width that were asked for.
    case everyCaseWithin(depth: Int?, width: UInt64?)
    /// The first cases of an enumeration, up to its limit; there are more.
    case firstCases
    /// Cases from everywhere in an enumeration, as many as a run of the day looks at; there are more.
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
  /// The cases that asked for more than 65,536 draws and did not fail: they count for nothing.
  public let overruns: Int
  /// In how many cases each label occurred.
  public let labels: [String: Int]
  /// What was looked at.
  public let coverage: Coverage
  /// The saved cases that were run first.
  public let savedCases: Int
  /// What a reader should know although nothing failed: stale saved cases, files not written.
  public let warnings: [String]
  /// The journals that show the failing case.
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

  /// The failing case, made as simple as it was possible; `nil` where none failed.
  public var failure: PropertyFailure? {
    switch outcome {
    case .failed(let failure), .flaky(let failure): failure
    case .passed, .unhealthy: nil
    }
  }

  /// Adds a journal that shows the failing case, and with it the line that inspects it.
  public mutating func attach(journal path: String) {
    journals.append(path)
  }
}

/// A case for which a property does not hold.
public struct PropertyFailure: Sendable {
  /// What does not hold.
  public let message: String
  /// The draws of the simplest case that was found, without the zeros at its end.
  public let choices: [UInt64]
  /// What happens in it: what the body told, and between it what a simulated world did.
  public let steps: [Step]
  /// Runs it again: the value for `SESSION_REPLAY`.
  public let replay: String
  /// The code, or the path of a file that holds it where it is long.
  let replayCommand: String
  /// Which case failed first, counted from 1; 0 where it was a saved or replayed one.
  public let caseNumber: Int
  /// How many draws the first failing case had.
  public let firstDraws: Int
  /// How many cases the shrinker tried.
  public let shrinkRuns: Int
  /// Why the shrinker stopped before it came to its end; `nil` where it did.
  public let shrinkStop: String?
  /// The file of the case, where it is saved.
  public let savedAt: String?
}

/// Why a property counts as untested although no case failed.
public enum PropertyHealthIssue: Hashable, Sendable, CustomStringConvertible {
  /// More than nine cases in ten were discarded.
  case discarded(Int, of: Int)
  /// More than sixteen cases, or all there were, asked for more than 65,536 draws.
  case overran(Int, of: Int)
  /// A required label occurred in no case.
  case labelMissing(String, cases: Int)
  /// The case that was asked for cannot be run, or says nothing.
  case replay(String)
  /// The task was cancelled.
  case cancelled(cases: Int, of: Int)
  /// An enumeration was asked for within bounds that mean nothing.
  case bounds(String)
  /// A case of an enumeration asked for more than 65,536 draws, and no depth bounds it; so many cases
  /// had held before.
  case endless(cases: Int)
  /// There was no case to run.
  case noCases

  /// What is wrong, and what to do.
  public var description: String {
    switch self {
    case .discarded(let count, let whole):
      "\(count) of \(whole.counted("case")) were discarded, more than nine in ten: generate what is wanted "
        + "instead of discarding what is not"
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
      "the enumeration has no end: after \(cases.counted("case")) one asked for more than "
        + "\(ChoiceState.maximumDraws) draws: bound it by a depth, or let a draw of 0 end every loop"
    case .noCases: "no case was run: ask for at least one"
    }
  }
}

/// What a case says of itself, however it ended.
struct CaseFindings: Sendable {
  let labels: Set<String>
  let complaints: [String]
  let isOverrun: Bool
  /// Whether it overran with every draw that a case may make, so that no depth bounds an enumeration.
  let isTooDeep: Bool
}

/// The count of what ran.
struct PropertyTally: Sendable {
  var cases = 0
  var discarded = 0
  /// The cases of an enumeration that a sweep left out.
  var passedOver = 0
  var overruns = 0
  var labels: [String: Int] = [:]

  /// A case that held, or overran.
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
  /// The number and its noun, which takes an s unless it is one.
  func counted(_ noun: String) -> String {
    self == 1 ? "1 \(noun)" : "\(self) \(noun)s"
  }
}
