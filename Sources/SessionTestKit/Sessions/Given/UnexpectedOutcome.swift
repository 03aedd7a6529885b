/// The difference between a story's outcome and its expectations, as text.
///
/// `then` throws it, and every test library shows its text. The shrinker accepts a simpler case
/// only if the same `then` fails.
///
/// - Requirement: TST-1
public struct UnexpectedOutcome: PlacedError, Hashable, Sendable, CustomStringConvertible {
  /// The text, in the parts given, when, then and but.
  public let description: String
  /// The file of the `then`, as `Module/File.swift`.
  public let fileID: String
  /// The line of the `then`.
  public let line: Int

  init(
    given: [String], when: [String], then: [String], but: [String], fileID: String, line: Int
  ) {
    self.fileID = fileID
    self.line = line
    let parts = [("Given", given), ("When", when), ("Then", then), ("But", but)]
    let lines = parts.flatMap { name, lines in
      (lines.isEmpty ? ["nothing"] : lines).enumerated().map { index, line in
        let head = index == 0 ? name : ""
        return head + String(repeating: " ", count: 7 - head.count) + line
      }
    }
    description = lines.joined(separator: "\n")
  }
}
