import SessionCore
import SessionJournal

/// The hold of the hosts before a logout, and its end on every path.
///
/// Every ``beginHold()`` has one ``endHold(hasLoggedOut:)``. Several logouts may run at the same
/// time. The hosts are released after the last one has ended.
///
/// - Requirement: OUT-3
extension SessionEngine {
  /// The end of a logout, and whether the hosts have cleared their data.
  typealias Logout = (reply: Reply, isCleared: Bool)

  /// Logs the user out, as ``Session/logout(_:discardingPendingChanges:)`` says.
  ///
  /// A cancelled caller waits for nothing, not even for the engine's thread.
  nonisolated func logOut(
    _ scope: LogoutScope, discardingPendingChanges: Bool
  ) async throws(SessionError) -> Logout {
    guard !discardingPendingChanges else { return try await logOutAnyway(scope) }
    let race = Race<Result<Logout, SessionError>>()
    try await startLogout(scope, in: race)
    return try await withTaskCancellationHandler {
      await race.first()
    } onCancel: {
      race.end(.failure(.cancelled))
    }.get()
  }

  /// Logs the user out although the hosts may have unsent changes.
  private func logOutAnyway(_ scope: LogoutScope) async throws(SessionError) -> Logout {
    let reply = try await ask(cancellation: .detaches) { .logout($0, scope) }
    do throws(SessionError) { try await awaitDataClearing() } catch .clearingLocalData {
      // The outcome reports it.
    }
    return (reply, !needsDataClearing)
  }

  /// Has the hosts hold changes, and starts a logout that ends the hold according to its result.
  private func startLogout(
    _ scope: LogoutScope, in race: Race<Result<Logout, SessionError>>
  ) async throws(SessionError) {
    try await holdChanges()
    // The caller waits outside of the engine. As one call of the engine, a cancelled caller would
    // wait for its thread, which a store of the app can keep busy.
    start { race.end(await $0.logoutEndingHold(scope)) }
  }

  /// Has the hosts hold changes.
  ///
  /// Throws `pendingChanges`, and holds none, if there are unsent changes.
  private func holdChanges() async throws(SessionError) {
    // A logout of a closed session never happens, so there is nothing to prepare.
    guard !states.isFinished else { throw .closed }
    // The release of an earlier logout must not arrive after the question of this one.
    await hosts.beginHold()?.value
    do throws(SessionError) {
      try await checkPendingChanges()
    } catch {
      await endHold(hasLoggedOut: false)
      throw error
    }
  }

  /// Throws if the user who is signed in has unsent changes.
  private func checkPendingChanges() async throws(SessionError) {
    var count = await holdForLogout(of: view.state.user)
    guard count > 0 else { return }
    // A user may have signed in through another process. Then only that user's changes count.
    if view.state.kind == .unauthenticated {
      await readPeers()
      guard view.state.kind != .unauthenticated else { return }
      count = await holdForLogout(of: view.state.user)
    }
    if count > 0 { throw .pendingChanges(count) }
  }

  /// Asks the hosts for the number of changes.
  ///
  /// Hosts without any hold further ones.
  private func holdForLogout(of user: Identifier?) async -> Int {
    guard !configuration.hosts.isEmpty else { return 0 }
    return await configuration.holdForLogout(log.identifier.asIdentifier, of: user)
  }

  /// Ends the hold of a logout.
  ///
  /// If it has logged out, ``SessionHost/sessionEnded(_:)`` ends the hold of each host that keeps
  /// data.
  private func endHold(hasLoggedOut: Bool) async {
    hosts.endHold()
    guard let release = releaseHosts({ !hasLoggedOut || !$0.hasUserData }) else { return }
    await release.value
  }

  private func logoutEndingHold(_ scope: LogoutScope) async -> Result<Logout, SessionError> {
    let result: Result<Reply, SessionError>
    let hasLoggedOut: Bool
    let callsBefore = hosts.clearing.callCount
    do throws(SessionError) {
      let reply = try await ask(cancellation: .ignored) { .logout($0, scope) }
      result = .success(reply)
      if case .loggedOut = reply { hasLoggedOut = true } else { hasLoggedOut = false }
    } catch {
      result = .failure(error)
      // Closing the session ends the wait even if the event is durable. Then the hosts clear
      // already.
      hasLoggedOut =
        error == .closed && hosts.clearing.callCount > callsBefore && !hasUser
    }
    // Changes that a host accepts while it clears would be cleared too.
    do throws(SessionError) { try await awaitDataClearing() } catch {
      // The hold ends even if their data remains.
    }
    await endHold(hasLoggedOut: hasLoggedOut)
    return result.map { ($0, !needsDataClearing) }
  }

  /// Has these hosts release what they hold.
  ///
  /// If a logout is running, it does so at its end instead.
  @discardableResult
  func releaseHosts(
    _ isReleased: @escaping @Sendable (any SessionHost) -> Bool
  ) -> Task<Void, Never>? {
    guard !hosts.isHolding else { return nil }
    guard !configuration.hosts.isEmpty else { return nil }
    let (configuration, journal) = (configuration, log.identifier.asIdentifier)
    return hosts.startRelease(on: runtime) {
      await configuration.releaseHold(journal, of: isReleased)
    }
  }
}

/// The last check before a request is sent.
///
/// - Requirement: REF-11
extension SessionEngine {
  /// Reads the journal again and asks the coordinator whether the request may be sent.
  ///
  /// It is called directly before the transport gets the request, since another process may have
  /// ended the session after the intent became durable. Between this check and the first byte is a
  /// window that no lock closes (Specs/FaultModel.md).
  func mayLeave(_ number: RequestNumber) async -> Bool {
    do throws(JournalError) {
      // Each read covers what was appended during the one before. This ends soon, or after eight
      // reads.
      var reads = 0
      while reads < 8, try log.hasNews() {
        try await takeInOthers()
        reads += 1
      }
    } catch {
      // It is not known what the peers did, so nothing is sent.
      loseJournal(by: error)
      problems.commit = .journal(error)
      requests.end(number)
      feed(.unobserved)
      return false
    }
    feed(.leaving(number))
    await idle()
    let mayLeave = coordinator.permits(number)
    if !mayLeave { requests.end(number) }
    return mayLeave
  }
}
