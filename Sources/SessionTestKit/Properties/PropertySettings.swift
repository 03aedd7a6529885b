import Foundation

/// What a person says about all properties of a run, from outside the code.
///
/// | variable | meaning |
/// | --- | --- |
/// | `SESSION_CASES` | multiplies the number of cases of every property; from 1 |
/// | `SESSION_SEED` | another seed than the one made of the property's name |
/// | `SESSION_REPLAY` | a replay code, or the path of a file with one: the property that printed it runs this one case, and says so on standard error if it holds; where none says so, the code is none of theirs |
/// | `SESSION_LABELS` | anything but 0: reports show how often each label occurred, those of properties that hold on standard error |
public struct PropertySettings: Hashable, Sendable {
  /// A variable of the environment that tests read.
  enum Variable: String, CaseIterable, Sendable {
    case cases = "SESSION_CASES"
    case seed = "SESSION_SEED"
    case replay = "SESSION_REPLAY"
    case labels = "SESSION_LABELS"
    case sweep = "SESSION_SWEEP"
  }

  /// Multiplies the number of cases of every property.
  public var multiplier = 1
  /// Another seed than the one made of the property's name.
  public var seed: UInt64?
  /// A replay code, or the path of a file that holds one, with at least one slash.
  public var replay: String?
  /// Whether reports show how often each label occurred.
  public var showsLabels = false
  /// What was asked for and not understood.
  public var complaints: [String] = []

  /// Nothing said.
  public init() {}

  /// What an environment says.
  ///
  /// A variable that is empty says nothing.
  public init(environment: [String: String]) {
    func value(_ variable: Variable) -> String? {
      environment[variable.rawValue].flatMap { $0.isEmpty ? nil : $0 }
    }
    if let text = value(.cases) {
      if let factor = Int(text), (1...1_000_000).contains(factor) {
        multiplier = factor
      } else {
        complaints.append("SESSION_CASES is no number from 1 to 1000000: it was ignored")
      }
    }
    if let text = value(.seed) {
      seed = UInt64(text)
      if seed == nil { complaints.append("SESSION_SEED is no number from 0: it was ignored") }
    }
    replay = value(.replay)
    showsLabels = (value(.labels) ?? "0") != "0"
  }

  /// What this process's environment says.
  public static let ofProcess = PropertySettings(environment: ProcessInfo.processInfo.environment)
}
