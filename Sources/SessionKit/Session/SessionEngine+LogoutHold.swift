import SessionCore
import SessionJournal

/// The hold of the hosts before a logout, and its end on every path.
///
/// Every ``beginHold()`` has one ``endHold(hasLoggedOut:)``. Several logouts may be under way. The hosts are
/// released after the last one has ended.
///
/// - Requirement: OUT-3
extension SessionEngine {
  /// Begins a logout for which the hosts hold changes.
  func beginHold() async {
    logoutHolds += 1
    // What an earlier logout releases must not arrive after this one's question.
    await holdRelease?.value
  }

  /// Asks the hosts for changes; those that have none hold further ones.
  func holdForLogout(of user: Identifier?) async -> Int {
    await configuration.holdForLogout(journal.identifier.asIdentifier, of: user)
  }

  /// Ends the hold of a logout.
  ///
  /// If it has logged out, ``SessionHost/sessionEnded(_:)`` ends the hold of each host that keeps data.
  func endHold(hasLoggedOut: Bool) async {
    logoutHolds -= 1
    guard let release = releaseHosts({ !hasLoggedOut || !$0.hasUserData }) else { return }
    await release.value
  }

  /// Logs out, and ends the hold by what comes of it; a caller that is cancelled does not wait for either.
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
    let clearingsBefore = clearings
    do throws(SessionError) {
      let reply = try await ask(cancellation: .ignored) { .logout($0, scope) }
      result = .success(reply)
      if case .loggedOut = reply { hasLoggedOut = true } else { hasLoggedOut = false }
    } catch {
      result = .failure(error)
      // A close ends the wait also if the event is durable. Then the hosts clear already.
      hasLoggedOut =
        error == .closed && clearings > clearingsBefore
        && coordinator.state.kind == .unauthenticated
    }
    // What the hosts take in while they clear would be cleared with the rest.
    do throws(SessionError) { try await awaitDataClearing() } catch {
      // The hold ends also if their data remains.
    }
    await endHold(hasLoggedOut: hasLoggedOut)
    return result
  }

  /// Ends the hold of hosts that cannot tell sign-ins apart if a user has signed in before they cleared: they
  /// do not learn of the earlier end any more.
  func noteLaterLogin() {
    guard owedClearing?.hasLaterLogin == false, coordinator.state.kind != .unauthenticated else {
      return
    }
    owedClearing?.hasLaterLogin = true
    releaseHosts { $0.hasUserData && !$0.separatesSignIns }
  }

  /// Has these hosts release what they hold, unless a logout is under way, which does so at its end.
  @discardableResult
  private func releaseHosts(
    _ isReleased: @escaping @Sendable (any SessionHost) -> Bool
  ) -> Task<Void, Never>? {
    guard logoutHolds == 0 else { return nil }
    let (before, configuration) = (holdRelease, configuration)
    let journal = journal.identifier.asIdentifier
    let release = runtime.spawn {
      await before?.value
      await configuration.releaseHold(journal, of: isReleased)
    }
    holdRelease = release
    return release
  }
}
