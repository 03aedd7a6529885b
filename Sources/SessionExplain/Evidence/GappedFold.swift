@_spi(Internals) package import SessionCore

/// The fold of a journal of which records may be missing.
package enum GappedFold {
  /// Applies a record; returns the state before it, and whether that state is assumed.
  ///
  /// `afterGap` is true if records are missing since the last login. An event that the state does
  /// not allow then shows that the state changed in the gap. If the record cannot be folded, it
  /// throws, and the fold does not change.
  package static func apply(
    _ record: SessionRecord, to fold: inout SessionFold, afterGap: Bool
  ) throws(SessionFold.Failure) -> (before: SessionState.Kind, isAssumed: Bool) {
    let before = fold.kind
    do throws(SessionFold.Failure) {
      try fold.apply(record)
      return (before, false)
    } catch {
      guard case .illegal = error, afterGap, var assumed = fold.assumed(before: record) else {
        throw error
      }
      let kind = assumed.kind
      try assumed.apply(record)
      fold = assumed
      return (kind, true)
    }
  }
}

extension SessionFold {
  /// Returns a fold that missing records may have led to, so that this event is legal; `nil` for a
  /// record that is no event.
  fileprivate func assumed(before record: SessionRecord) -> SessionFold? {
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
