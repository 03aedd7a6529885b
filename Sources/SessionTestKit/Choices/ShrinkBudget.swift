/// How much the shrinker may try before it is content with what it has.
struct ShrinkBudget: Hashable, Sendable {
  /// How many cases.
  var runs: Int
  /// How many draws it may write into cases and look at, so that huge cases end in seconds: the same
  /// on every machine.
  var work = 10_000_000
  /// For how long: for bodies that take long themselves.
  var time: Duration
}
