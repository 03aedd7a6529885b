/// Something that a scenario file says wrongly, and where.
package struct ScenarioError: Error, Hashable, Sendable {
  /// The file, as it was named.
  package let file: String
  /// The line, from 1.
  package let line: Int
  /// The column, from 1, in characters.
  package let column: Int
  /// What is wrong.
  package let problem: String
  /// What was probably meant.
  package let hint: String?
}

extension ScenarioError: CustomStringConvertible {
  /// `FILE:LINE:COLUMN: problem; hint`.
  package var description: String {
    "\(file):\(line):\(column): \(problem)" + (hint.map { "; did you mean \"\($0)\"?" } ?? "")
  }
}

/// Everything that a scenario file says wrongly, at most ``limit`` of it, in the order of lines.
package struct ScenarioErrors: Error, Hashable, Sendable {
  /// No more is told of one file.
  package static let limit = 20
  /// What is wrong; never empty.
  package let errors: [ScenarioError]
}

extension ScenarioErrors: CustomStringConvertible {
  /// One error a line.
  package var description: String { errors.map(\.description).joined(separator: "\n") }
}

/// A line of a scenario that did not come true; shows no token, password or e-mail address.
package struct ScenarioFailure: Error, Hashable, Sendable {
  /// The file, as it was named.
  package let file: String
  /// The line that failed, from 1.
  package let line: Int
  /// What the line wants, and what there was.
  package let problem: String
  /// The last things that happened before, oldest first.
  package let before: [String]
}

extension ScenarioFailure: CustomStringConvertible {
  /// `FILE:LINE: problem`, and below it what happened last.
  package var description: String {
    (["\(file):\(line): \(problem)"] + before.map { "  before: \($0)" }).joined(separator: "\n")
  }
}
