import SessionCore

extension Session {
  /// Logs out (OUT-1): from the moment the event is durable nothing brings the session back.
  ///
  /// `alreadyLoggedOut` says that nobody is signed in by any process: the journal was looked at.
  ///
  /// Returns when the stored items are wiped, the app's data is cleared (``SessionConfiguration``), and
  /// the server was told, or could not be. Throws `pendingChanges` where the app has changes that were
  /// not sent, unless they may be discarded (OUT-3), and `journal` where the event could not be journaled:
  /// then nothing changed. In a task that is cancelled, before or while it waits, it throws `cancelled`,
  /// and the logout goes on; so it does where the session is closed, which throws `closed`.
  @discardableResult
  public func logout(
    discardingPendingChanges: Bool = false
  ) async throws(SessionError) -> LogoutOutcome {
    if !discardingPendingChanges { try await checkPendingChanges() }
    let reply = try await engine.ask(cancellation: .detaches) { .logout($0) }
    try await engine.untilCleared()
    guard case .loggedOut(let outcome, let status, let isWiped) = reply else {
      return .alreadyLoggedOut
    }
    guard isWiped else { return .partial(.itemsRemain) }
    guard outcome == .failed || outcome == .abandoned else { return .success }
    return .partial(.serverNotTold(status: status == 0 ? nil : status))
  }

  /// What was not sent is not lost without the user's word; where nobody is signed in it is nobody's.
  private func checkPendingChanges() async throws(SessionError) {
    guard let pendingChanges = engine.configuration.pendingChanges else { return }
    let count = await pendingChanges()
    guard count > 0 else { return }
    // By this view nobody may be, and by the journal somebody.
    if state.kind == .unauthenticated { _ = try await engine.ask { .foreground($0) } }
    if state.kind != .unauthenticated { throw .pendingChanges(count) }
  }
}
