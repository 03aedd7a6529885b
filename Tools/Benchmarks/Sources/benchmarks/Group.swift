/// Figures that are measured together.
struct Group: Sendable {
  /// The result of a group.
  struct Outcome {
    var figures: [Figure] = []
    /// The figures that were left out, with the reasons.
    var skipped: [String] = []
  }

  let name: String
  let summary: String
  let measure: @Sendable (Stage) throws -> Outcome

  /// All groups, in the order of the table.
  static let all: [Group] = [
    .appendOne, .appendMany, .appendUnsynced, .fold, .values, .size, .open, .publish, .token,
    .fan, .launch, .restore, .memory, .many, .sim, .replay,
  ]
}
