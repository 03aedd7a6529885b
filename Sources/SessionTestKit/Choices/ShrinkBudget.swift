/// How much the shrinker may try before it is content with what it has.
struct ShrinkBudget: Hashable, Sendable {
  /// How many cases.
  var runs: Int
  /// How many draws may be replayed in them, so that huge cases end: the same on every machine.
  var draws: Int
  /// For how long: for bodies that take long themselves.
  var time: Duration
}
