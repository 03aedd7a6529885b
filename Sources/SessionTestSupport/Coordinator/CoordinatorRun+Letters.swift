@_spi(Internals) package import SessionCore
package import SessionTestKit

extension CoordinatorRun {
  /// The alphabet of exhaustive runs: moves that are enough to bring about every interaction.
  package enum Letter: String, CaseIterable, Sendable {
    case refresh, switchContext, logout, login, cancel, close
    case answer, loseReply, reject, again
    case timer, breakCommit
    case foreignRefresh, foreignRequest, foreignLogout, foreignLogin
  }

  /// Returns a run in which the user `ada` is logged in and nothing is pending.
  package static func signedIn(
    _ policy: SessionPolicy, rules: Set<CoordinatorRule>, isRefreshable: Bool = true
  ) throws(Falsified) -> CoordinatorRun {
    var run = CoordinatorRun(policy, rules: rules)
    try run.open()
    try run.make(.ask(.login(.password)))
    guard let request = run.wire.outstanding.first else { return run }
    try run.make(.answer(request.number, .login("ada", isRefreshable: isRefreshable)))
    return run
  }

  /// Returns the move of the letter in the current state; `nil` if it has none.
  package func move(_ letter: Letter) -> CoordinatorMove? {
    let request = wire.outstanding.first?.number
    switch letter {
    case .refresh: return .ask(.refresh(.manual, .always))
    case .switchContext: return .ask(.switchContext)
    case .logout: return .ask(.logout)
    case .login: return .ask(.login(.password))
    case .close: return callers.isClosed ? nil : .ask(.close)
    case .cancel: return callers.waiting.first.map { .cancel($0.caller) }
    case .answer: return request.map { .answer($0, .login("ada")) }
    case .loseReply:
      return request.map { .fail($0, RequestFailure(kind: .noReply), jitter: 0) }
    case .reject:
      return request.map { .fail($0, RequestFailure(kind: .rejected, status: 401), jitter: 0) }
    case .again: return wire.requests.last { $0.fate != .sent }.map { .again($0.number) }
    case .timer:
      return timers.min { ($0.value, "\($0.key)") < ($1.value, "\($1.key)") }
        .map { .fire($0.key) }
    case .breakCommit: return brokenCommits > 0 ? nil : .breakCommits(1, afterStoring: true)
    case .foreignRefresh: return .foreign(.rotates(lifetime: 3_600_000))
    case .foreignRequest: return .foreign(.sends(deadlineIn: 20_000))
    case .foreignLogout: return .foreign(.logsOut)
    case .foreignLogin: return .foreign(.logsIn("bob", lifetime: 3_600_000))
    }
  }
}
