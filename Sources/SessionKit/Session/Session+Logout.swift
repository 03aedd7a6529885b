@_spi(Internals) public import SessionCore
import SessionJournal

extension Session {
  /// Logs out: from the moment the event is durable nothing brings the session back.
  ///
  /// With ``LogoutScope/thisDeviceOnly`` nothing is revoked at the server, now or later; everything else is the
  /// same.
  ///
  /// Returns when the stored items are wiped, the hosts have cleared their data
  /// (``SessionHost/sessionEnded(_:)``), and the server has answered or could not be reached. Returns
  /// `alreadyLoggedOut` if no user is signed in by the journal, which other processes write too.
  ///
  /// - Throws: `pendingChanges` if the hosts have changes that were not sent, unless they may be discarded. From the count on, the hosts take in no changes until this has ended.
  /// - Throws: `storage` if the event could not be journaled. Then nothing has changed.
  /// - Throws: `cancelled` if its task is cancelled, before or while it waits. The logout goes on.
  /// - Throws: `closed` if the session is closed meanwhile. If its event is durable, the logout goes on.
  ///
  /// - Requirement: OUT-1, OUT-2, OUT-3, OUT-7
  @discardableResult
  public func logout(
    _ scope: LogoutScope = .deviceAndServer, discardingPendingChanges: Bool = false
  ) async throws(SessionError) -> LogoutOutcome {
    let reply: SessionEffect.Reply
    if discardingPendingChanges {
      reply = try await engine.ask(cancellation: .detaches) { .logout($0, scope) }
    } else {
      try await holdChanges()
      reply = try await engine.logoutOfHeld(scope)
    }
    do throws(SessionError) { try await engine.awaitDataClearing() } catch .clearingLocalData {
      // The outcome says so.
    }
    let isCleared = await !engine.needsDataClearing
    guard case .loggedOut(let outcome, let status, let isWiped) = reply else {
      return .alreadyLoggedOut
    }
    guard isWiped else { return .partial(.itemsRemain) }
    guard isCleared else { return .partial(.localDataRemains) }
    guard outcome == .failed || outcome == .abandoned else { return .success }
    return .partial(.serverNotTold(status: status == 0 ? nil : status))
  }

  /// Has the hosts hold changes; throws `pendingChanges`, and holds none, if there are some.
  private func holdChanges() async throws(SessionError) {
    // A logout of a closed session never happens, so there is nothing to prepare.
    guard !states.isFinished else { throw .closed }
    await engine.beginHold()
    do throws(SessionError) {
      try await checkPendingChanges()
    } catch {
      await engine.endHold(hasLoggedOut: false)
      throw error
    }
  }

  /// Throws if the user who is signed in has changes that were not sent.
  private func checkPendingChanges() async throws(SessionError) {
    var count = await engine.holdForLogout(of: state.user)
    guard count > 0 else { return }
    // A user may have signed in by another process. Then that user's changes count, and no others.
    if state.kind == .unauthenticated {
      _ = try await engine.ask { .foreground($0) }
      guard state.kind != .unauthenticated else { return }
      count = await engine.holdForLogout(of: state.user)
    }
    if count > 0 { throw .pendingChanges(count) }
  }

  /// The identifier of the session's journal.
  package var journal: Identifier { engine.journal.identifier.asIdentifier }
}
