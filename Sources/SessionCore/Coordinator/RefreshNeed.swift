/// When a caller needs a newer token.
package enum RefreshNeed: Hashable, Sendable {
  /// In any case.
  case always
  /// If the current one has expired.
  case ifExpired
  /// If the current one expires within this number of milliseconds.
  ///
  /// A token that arrived within the last second is sufficient, even if its whole lifetime is
  /// shorter. A server that issues short-lived tokens would only send another such token.
  ///
  /// - Requirement: REF-15
  case unlessGood(for: Int64)
  /// If the server has rejected the token of this generation and there is no newer valid one.
  ///
  /// - If many calls are rejected together, the first one makes the request. The others receive its
  ///   result.
  /// - If a server responded to that request with a failure, later calls wait for the end of the
  ///   pause.
  /// - If no server responded, the next call tries at once.
  /// - Requirement: INT-2, REF-14
  case unlessNewer(than: Generation)

  /// How many milliseconds the current token must still be valid; 0 if it must only not have
  /// expired.
  var minimum: Int64 {
    if case .unlessGood(let minimum) = self { max(0, minimum) } else { 0 }
  }
}
