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
    let state = StateDescription(fold)
    return [
      StateField(name: "state", value: state.kind.description),
      StateField(name: "user", value: state.user.map(EventFormatter.short) ?? nothing),
      StateField(name: "signed in", value: state.method.map(EventFormatter.method) ?? nothing),
      StateField(name: "since", value: state.since.map(moment) ?? nothing),
      StateField(name: "reason", value: state.reason.map(EventFormatter.reason) ?? nothing),
      StateField(name: "context", value: state.context.map(EventFormatter.context) ?? nothing),
      StateField(
        name: "token", value: state.token.map(EventFormatter.token) ?? newest(state.newest)),
      StateField(name: "expires", value: (state.token?.expiresAt).map(moment) ?? nothing),
      StateField(name: "failures", value: state.failures.map(text) ?? nothing),
      StateField(name: "request", value: state.intents.request.map(text) ?? nothing),
      StateField(
        name: "to revoke",
        value: state.intents.revocations.isEmpty
          ? nothing : state.intents.revocations.map(\.description).joined(separator: ", ")),
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
