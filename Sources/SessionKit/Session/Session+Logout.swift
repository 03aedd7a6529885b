package import SessionCore
import SessionJournal

extension Session {
  /// Logs out (OUT-1): from the moment the event is durable nothing brings the session back.
  ///
  /// `alreadyLoggedOut` says that nobody is signed in by any process: the journal was looked at.
  ///
  /// Returns when the stored items are wiped, the app's data is cleared (``SessionConfiguration``), and
  /// the server was told, or could not be. Throws `pendingChanges` where the app has changes that were
  /// not sent, unless they may be discarded (OUT-3): from the count on the hosts take none in until this has
  /// ended. Throws `journal` where the event could not be journaled: then nothing changed. In a task that is
  /// cancelled, before or while it waits, it throws `cancelled`, and the logout goes on; so it does where the
  /// session is closed meanwhile, which throws `closed`.
  @discardableResult
  public func logout(
    discardingPendingChanges: Bool = false
  ) async throws(SessionError) -> LogoutOutcome {
    if !discardingPendingChanges { try await checkPendingChanges() }
    let reply: SessionEffect.Reply
    do throws(SessionError) {
      reply = try await engine.ask(cancellation: .detaches) { .logout($0) }
    } catch {
      // A logout that nobody waits for any more goes on.
      if error != .cancelled, error != .closed { await engine.configuration.releaseHold(journal) }
      throw error
    }
    do throws(SessionError) { try await engine.awaitDataClearing() } catch .clearingLocalData {
      // The outcome says so.
    }
    let isCleared = await !engine.needsDataClearing
    guard case .loggedOut(let outcome, let status, let isWiped) = reply else {
      await engine.configuration.releaseHold(journal)
      return .alreadyLoggedOut
    }
    guard isWiped else { return .partial(.itemsRemain) }
    guard isCleared else { return .partial(.localDataRemains) }
    guard outcome == .failed || outcome == .abandoned else { return .success }
    return .partial(.serverNotTold(status: status == 0 ? nil : status))
  }

  /// What was not sent is not lost without the user's word; where nobody is signed in it is nobody's.
  private func checkPendingChanges() async throws(SessionError) {
    // Nothing is held where no logout can follow.
    guard !states.isFinished else { throw .closed }
    var count = await engine.configuration.holdForLogout(journal, of: state.user)
    guard count > 0 else { return }
    // By this view nobody may be, and by the journal somebody: then theirs count, and no others.
    if state.kind == .unauthenticated {
      _ = try await engine.ask { .foreground($0) }
      guard state.kind != .unauthenticated else { return }
      count = await engine.configuration.holdForLogout(journal, of: state.user)
    }
    if count > 0 { throw .pendingChanges(count) }
  }

  /// The identifier of the session's journal.
  package var journal: Identifier { engine.journal.identifier.asIdentifier }
}
