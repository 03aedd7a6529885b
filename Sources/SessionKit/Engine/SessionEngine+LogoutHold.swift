import SessionCore
import SessionJournal

/// The hold of the hosts before a logout, and its end on every path.
///
/// Every ``beginHold()`` has one ``endHold(hasLoggedOut:)``. Several logouts may run at the same
/// time. The hosts are released after the last one has ended.
///
/// - Requirement: OUT-3
extension SessionEngine {
  /// Begins a logout for which the hosts hold changes.
  func beginHold() async {
    // The release of an earlier logout must not arrive after the question of this one.
    await hosts.beginHold()?.value
  }

  /// Asks the hosts for the number of changes.
  ///
  /// Hosts without any hold further ones.
  func holdForLogout(of user: Identifier?) async -> Int {
    await configuration.holdForLogout(log.identifier.asIdentifier, of: user)
  }

  /// Ends the hold of a logout.
  ///
  /// If it has logged out, ``SessionHost/sessionEnded(_:)`` ends the hold of each host that keeps
  /// data.
  func endHold(hasLoggedOut: Bool) async {
    hosts.endHold()
    guard let release = releaseHosts({ !hasLoggedOut || !$0.hasUserData }) else { return }
    await release.value
  }

  /// Logs out, then ends the hold according to the result.
  ///
  /// A cancelled caller does not wait for either.
  nonisolated func logoutOfHeld(_ scope: LogoutScope) async throws(SessionError) -> Reply {
    let race = Race<Result<Reply, SessionError>>()
    _ = runtime.spawn { race.end(await self.logoutEndingHold(scope)) }
    return try await withTaskCancellationHandler {
      await race.first()
    } onCancel: {
      race.end(.failure(.cancelled))
    }.get()
  }

  private func logoutEndingHold(_ scope: LogoutScope) async -> Result<Reply, SessionError> {
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
    return result
  }

  /// Has these hosts release what they hold.
  ///
  /// If a logout is running, it does so at its end instead.
  @discardableResult
  func releaseHosts(
    _ isReleased: @escaping @Sendable (any SessionHost) -> Bool
  ) -> Task<Void, Never>? {
    guard !hosts.isHolding else { return nil }
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
  /// Returns whether the request may be sent.
  ///
  /// A login always may.
  func mayLeave(_ number: RequestNumber, _ request: SessionEffect.Request) async -> Bool {
    if case .login = request { return true }
    return await mayLeave(number)
  }

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
    let mayLeave = coordinator.mayLeave(number)
    if !mayLeave { requests.end(number) }
    return mayLeave
  }
}
