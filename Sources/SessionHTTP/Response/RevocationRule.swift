/// Which responses to a revocation mean that the session is over at the server as well.
///
/// A page in place of a response never does. Any other response is a failure, and is tried again.
///
/// - Requirement: OUT-1, OUT-5
public struct RevocationRule: Hashable, Sendable {
  /// The statuses.
  ///
  /// 401 is among them, since a refresh token that is refused is good for nothing already: the outcome is
  /// then `alreadyInvalid`. A 401 with `invalid_client` is a failure, since it is about the client.
  ///
  /// If the access token authenticates the request (`.bearer` or a header), a 401 is not done: it is
  /// about the access token. Then the token is refreshed and the request sent once more.
  public var statuses: [ClosedRange<Int>] = [200...299, 401...401]
  /// The server's codes that mean the same whatever the status; `TOKEN_*` stands for all that begin
  /// so.
  public var codes: [String] = []

  /// 2xx and 401.
  public init() {}

  func isDone(_ signs: AnswerSigns) -> Bool {
    statuses.contains { $0.contains(signs.status) } || saysSo(signs)
  }

  /// Whether the server's code says so.
  func saysSo(_ signs: AnswerSigns) -> Bool {
    signs.code.map { code in codes.contains { FailureRule.matches(code, $0) } } == true
  }
}
