/// Figures that are measured together, beside each other.
struct Group: Sendable {
  /// What came of it.
  struct Outcome {
    var figures: [Figure] = []
    /// What was left out, and why.
    var skipped: [String] = []
  }

  let name: String
  let summary: String
  let measure: @Sendable (Stage) throws -> Outcome

  /// All of them, in the order of the table.
  static let all: [Group] = [
    .appendOne, .appendMany, .appendUnsynced, .fold, .values, .size, .open, .publish, .token,
    .call, .fan, .restore, .changes, .memory, .replay,
  ]
}
