/// Which answers to a revocation mean that the session is over at the server as well (OUT-1).
///
/// A page in place of an answer never does; any other answer is a failure and tried again.
public struct RevocationRule: Hashable, Sendable {
  /// The statuses; 401 is among them, for a token that is refused is good for nothing already.
  public var statuses: [ClosedRange<Int>] = [200...299, 401...401]
  /// The server's codes that mean the same whatever the status; `TOKEN_*` stands for all that begin
  /// so.
  public var codes: [String] = []

  /// 2xx and 401.
  public init() {}

  func isDone(_ signs: AnswerSigns) -> Bool {
    statuses.contains { $0.contains(signs.status) }
      || signs.code.map { code in codes.contains { FailureRule.matches(code, $0) } } == true
  }
}
