import Foundation

/// Settings of all properties in a run, from outside the code.
///
/// They come from variables of the environment:
///
/// - `SESSION_CASES`: The factor by which the number of cases of every property is multiplied, at
///   least 1.
/// - `SESSION_SEED`: A seed that replaces the one of each property.
/// - `SESSION_REPLAY`: A replay code, or the path of a file that holds one. The property that
///   printed it runs only this case. If the case holds, the property says so on standard error. All
///   other properties run as usual.
/// - `SESSION_LABELS`: Any value except 0 makes reports show how often each label occurred.
///   Properties that hold print it to standard error.
public struct PropertySettings: Hashable, Sendable {
  /// A variable of the environment that tests read.
  enum Variable: String, CaseIterable, Sendable {
    case cases = "SESSION_CASES"
    case seed = "SESSION_SEED"
    case replay = "SESSION_REPLAY"
    case labels = "SESSION_LABELS"
    case sweep = "SESSION_SWEEP"
  }

  /// The factor by which the number of cases of every property is multiplied.
  public var multiplier = 1
  /// A seed that replaces the one of each property.
  public var seed: UInt64?
  /// A replay code, or the path of a file that holds one; a path contains at least one slash.
  public var replay: String?
  /// Whether reports show how often each label occurred.
  public var showsLabels = false
  /// Variables that were ignored because their values are invalid, one sentence each.
  public var complaints: [String] = []

  /// Creates the default settings.
  public init() {}

  /// Reads the settings from an environment.
  ///
  /// An empty variable counts as missing.
  public init(environment: [String: String]) {
    func value(_ variable: Variable) -> String? {
      environment[variable.rawValue].flatMap { $0.isEmpty ? nil : $0 }
    }
    if let text = value(.cases) {
      if let factor = Int(text), (1...1_000_000).contains(factor) {
        multiplier = factor
      } else {
        complaints.append("SESSION_CASES is not a number from 1 to 1000000: it was ignored")
      }
    }
    if let text = value(.seed) {
      seed = UInt64(text)
      if seed == nil {
        complaints.append("SESSION_SEED is not a number of at least 0: it was ignored")
      }
    }
    replay = value(.replay)
    showsLabels = (value(.labels) ?? "0") != "0"
  }

  /// The settings from this process's environment.
  public static let ofProcess = PropertySettings(environment: ProcessInfo.processInfo.environment)
}
