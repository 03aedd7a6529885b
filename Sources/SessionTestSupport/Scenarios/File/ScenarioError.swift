/// An error in a scenario file, and its place.
package struct ScenarioError: Error, Hashable, Sendable {
  /// The file's name, as the caller gave it.
  package let file: String
  /// The line, from 1.
  package let line: Int
  /// The column, from 1, in characters.
  package let column: Int
  /// A sentence that says what is wrong.
  package let problem: String
}

extension ScenarioError: CustomStringConvertible {
  /// `FILE:LINE:COLUMN: problem`.
  package var description: String { "\(file):\(line):\(column): \(problem)" }
}

/// All errors in a scenario file, at most ``limit``, in the order of lines.
package struct ScenarioErrors: Error, Hashable, Sendable {
  /// The greatest number of errors that are reported for one file.
  package static let limit = 20
  /// The errors; never empty.
  package let errors: [ScenarioError]
}

extension ScenarioErrors: CustomStringConvertible {
  /// The errors, one per line.
  package var description: String { errors.map(\.description).joined(separator: "\n") }
}

/// A line of a scenario that was not fulfilled; contains no token, password or e-mail address.
package struct ScenarioFailure: Error, Hashable, Sendable {
  /// The file's name, as the caller gave it.
  package let file: String
  /// The number of the line that failed, from 1.
  package let line: Int
  /// A sentence that says what the line requires, and what was found.
  package let problem: String
  /// The last things that happened before, the oldest first.
  package let before: [String]
}

extension ScenarioFailure: CustomStringConvertible {
  /// `FILE:LINE: problem`, and on the next lines what happened last.
  package var description: String {
    (["\(file):\(line): \(problem)"] + before.map { "  before: \($0)" }).joined(separator: "\n")
  }
}
