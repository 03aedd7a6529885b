import SessionCore

/// What the hosts of a session say and do together.
extension SessionConfiguration {
  /// Whether a host keeps data that goes with a logout.
  var hasLocalData: Bool { hosts.contains(where: \.hasUserData) }

  /// Whether a host keeps data that goes with a logout even if a user has signed in since.
  var hasSeparateData: Bool { hosts.contains { $0.hasUserData && $0.separatesSignIns } }

  /// How long clearing may take; `nil` for no limit, as it is if every host can tell sign-ins apart.
  var clearingLimit: Duration? {
    hosts.contains { $0.hasUserData && !$0.separatesSignIns } ? clearLocalDataLimit : nil
  }

  /// Whether a host keeps when a user's status last changed.
  var keepsStatusTimes: Bool { hosts.contains(where: \.keepsStatusTimes) }

  /// The number of changes of the user that the server has not taken; if there are none, the hosts take in
  /// none until ``stay(_:)``.
  func holdForLogout(_ journal: Identifier, of user: Identifier?) async -> Int {
    var count = 0
    for host in hosts { count += await host.prepareForLogout(user: user, journal: journal) }
    if count > 0 { await releaseHold(journal) }
    return count
  }

  /// The logout came to nothing.
  func releaseHold(_ journal: Identifier) async {
    for host in hosts { await host.cancelLogout(journal: journal) }
  }

  /// Has the hosts remove what they keep of a session, the last one first; whether all of it is gone.
  func clear(_ ended: EndedSession) async -> Bool {
    var isDone = true
    for host in hosts.reversed() where host.hasUserData {
      guard !ended.hasLaterLogin || host.separatesSignIns else { continue }
      do { try await host.sessionEnded(ended) } catch {
        // What it is about is the host's, which threw it.
        isDone = false
      }
    }
    return isDone
  }

  /// The newest time at which a user's status has changed, of those that the hosts know.
  func lastKnownStatus(of user: Identifier) async -> Timestamp? {
    var newest: Timestamp?
    for host in hosts {
      let known = await host.lastKnownStatus(of: user)
      newest = [newest, known].compactMap(\.self).max()
    }
    return newest
  }

  /// Has each host learn that a user's status has changed.
  func accountStatusChanged(_ change: StatusChange) async {
    for host in hosts { await host.accountStatusChanged(change) }
  }
}
