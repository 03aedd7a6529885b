@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// One line about a state.
struct StateField: Equatable, Sendable {
  let name: String
  let value: String

  /// Returns the lines about a state, always the same ones in the same order.
  ///
  /// Times are shown without their day if that is the day of `time`.
  static func all(of fold: SessionFold, at time: Timestamp, zone: TimeZoneChoice) -> [StateField] {
    let moment = { (moment: Timestamp) in zone.text(moment, on: time) }
    var method: LoginMethod?
    var since: Timestamp?
    var reason: ExpiryReason?
    var failures: SessionState.RefreshFailures?
    var context: ActiveContext?
    switch fold.state {
    case .unauthenticated: break
    case .authenticated(let session):
      (method, since, failures) = (session.method, session.since, session.failures)
      context = session.context
    case .expired(let session):
      (reason, since, context) = (session.reason, session.since, session.context)
    }
    let token = fold.state.token
    let intents = fold.intents
    return [
      StateField(name: "state", value: fold.state.kind.description),
      StateField(name: "user", value: fold.state.user.map(EventFormatter.short) ?? nothing),
      StateField(name: "signed in", value: method.map(EventFormatter.method) ?? nothing),
      StateField(name: "since", value: since.map(moment) ?? nothing),
      StateField(name: "reason", value: reason.map(EventFormatter.reason) ?? nothing),
      StateField(name: "context", value: context.map(EventFormatter.context) ?? nothing),
      StateField(name: "token", value: token.map(EventFormatter.token) ?? newest(fold.generation)),
      StateField(name: "expires", value: (token?.expiresAt).map(moment) ?? nothing),
      StateField(name: "failures", value: failures.map(text) ?? nothing),
      StateField(name: "request", value: intents.request.map(text) ?? nothing),
      StateField(
        name: "to revoke",
        value: intents.revocations.isEmpty
          ? nothing : intents.revocations.map(\.description).joined(separator: ", ")),
    ]
  }

  private static let nothing = "–"

  private static func newest(_ generation: Generation) -> String {
    generation == .none ? nothing : "none, the newest was \(generation)"
  }

  private static func text(_ failures: SessionState.RefreshFailures) -> String {
    guard failures.total > 0 else { return "none" }
    let last = failures.last.map { ", " + FailureFormatter.text($0) } ?? ""
    return "\(failures.total.grouped), \(failures.answered.grouped) answered\(last)"
  }

  private static func text(_ request: OpenIntents.Request) -> String {
    "\(NoteFormatter.request(request.sent.kind)) @\(request.sequence) with \(request.sent.generation)"
  }
}
