/// Decides which responses to a revocation confirm that the session is over at the server.
///
/// A proxy's page never does. Any other response is a failure, and the revocation is tried again.
///
/// - Requirement: OUT-1, OUT-5
public struct RevocationRule: Hashable, Sendable {
  /// The statuses that confirm it.
  ///
  /// 401 is one of them, since a refused refresh token is already invalid. The outcome is then
  /// `alreadyInvalid`. A 401 with `invalid_client` is a failure, since it concerns the client.
  ///
  /// If the access token authenticates the request (`.bearer` or a header), a 401 concerns the
  /// access token and does not confirm the revocation. Then the token is refreshed and the request
  /// is sent again.
  public var statuses: [ClosedRange<Int>] = [200...299, 401...401]
  /// The server's codes that confirm it with any status.
  ///
  /// `TOKEN_*` matches all codes with that prefix.
  public var codes: [String] = []

  /// Creates the rule for the statuses 2xx and 401.
  public init() {}

  func isDone(_ signs: AnswerSigns) -> Bool {
    statuses.contains { $0.contains(signs.status) } || saysSo(signs)
  }

  /// Returns whether the server's code confirms it.
  func saysSo(_ signs: AnswerSigns) -> Bool {
    signs.code.map { code in codes.contains { FailureRule.matches(code, $0) } } == true
  }
}
