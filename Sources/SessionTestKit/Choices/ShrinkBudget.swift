/// The limits of one search for a simpler case.
struct ShrinkBudget: Hashable, Sendable {
  /// The greatest number of cases to try.
  var runs: Int
  /// The greatest number of draws to replay in them.
  ///
  /// It ends the shrinking of huge cases, and is the same on every machine.
  var draws: Int
  /// The longest real time to spend, for bodies that take long themselves.
  var time: Duration
}
