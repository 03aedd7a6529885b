@_spi(Internals) import SessionCore

extension SessionFold {
  /// Returns a fold that missing records may have led to, so that this event is legal; `nil` for a
  /// record that is no event.
  func assumed(before record: SessionRecord) -> SessionFold? {
    guard let event = record.event else { return nil }
    var generation = self.generation
    var state = SessionState.unauthenticated
    if event.kind != .login {
      if case .refreshFailed(let failed) = event { generation = failed.generation }
      if let token = self.state.token, event.kind != .refreshFailed {
        generation = token.generation
      }
      state = .authenticated(
        SessionState.Authenticated(
          user: self.state.user ?? "unknown", method: .password, since: record.time,
          token: TokenHistory.lost(generation, at: record.time).facts, context: nil,
          failures: SessionState.RefreshFailures()))
    }
    return SessionFold(
      state: state, generation: max(generation, self.generation), sequence: sequence,
      eventSequence: eventSequence, intents: OpenIntents())
  }
}
