/// Something that a scenario file says wrongly, and where.
public struct ScenarioError: Error, Hashable, Sendable {
  /// The file, as it was named.
  public let file: String
  /// The line, from 1.
  public let line: Int
  /// The column, from 1, in characters.
  public let column: Int
  /// What is wrong.
  public let problem: String
  /// What was probably meant.
  public let hint: String?
}

extension ScenarioError: CustomStringConvertible {
  /// `FILE:LINE:COLUMN: problem; hint`.
  public var description: String {
    "\(file):\(line):\(column): \(problem)" + (hint.map { "; did you mean \"\($0)\"?" } ?? "")
  }
}

/// Everything that a scenario file says wrongly, at most ``limit`` of it, in the order of lines.
public struct ScenarioErrors: Error, Hashable, Sendable {
  /// No more is told of one file.
  public static let limit = 20
  /// What is wrong; never empty.
  public let errors: [ScenarioError]
}

extension ScenarioErrors: CustomStringConvertible {
  /// One error a line.
  public var description: String { errors.map(\.description).joined(separator: "\n") }
}

/// A line of a scenario that did not come true; shows no token, password or e-mail address.
public struct ScenarioFailure: Error, Hashable, Sendable {
  /// The file, as it was named.
  public let file: String
  /// The line that failed, from 1.
  public let line: Int
  /// What the line wants, and what there was.
  public let problem: String
  /// The last things that happened before, oldest first.
  public let before: [String]
}

extension ScenarioFailure: CustomStringConvertible {
  /// `FILE:LINE: problem`, and below it what happened last.
  public var description: String {
    (["\(file):\(line): \(problem)"] + before.map { "  before: \($0)" }).joined(separator: "\n")
  }
}
