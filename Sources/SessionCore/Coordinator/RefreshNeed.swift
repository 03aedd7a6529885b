/// When a caller needs a newer token.
package enum RefreshNeed: Hashable, Sendable {
  /// Whatever the current one is good for.
  case always
  /// If the current one has expired.
  case ifExpired
  /// If the current one lives less than so many milliseconds.
  ///
  /// A token that came within the last second is good enough, even if its whole life is shorter: a server that
  /// issues short-lived tokens would only send another of them.
  ///
  /// - Requirement: REF-15
  case unlessGood(for: Int64)
  /// If the server has refused the one of this generation and there is no newer one that is good.
  ///
  /// - Of many calls that were refused together, the first makes the request. The others get its result.
  /// - If a server answered that request with a failure, later calls wait for the end of the pause.
  /// - If no server answered it, the next call tries at once.
  /// - Requirement: INT-2, REF-14
  case unlessNewer(than: Generation)

  /// How many milliseconds the current token must live to be good; 0 if it must only not be over.
  var minimum: Int64 {
    if case .unlessGood(let minimum) = self { max(0, minimum) } else { 0 }
  }
}
