import SessionCore

extension SessionConfiguration {
  /// Adds a host after those that were added before it.
  ///
  /// A host stays: nothing removes it from a configuration, and no other host takes its place. Add each
  /// host once.
  public mutating func add(host: any SessionHost) { hosts.append(host) }
}

/// What the hosts of a session say and do together; ``SessionHost`` has the order of their calls.
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

  /// The number of changes of the user that the server has not taken; a host that has none holds further
  /// changes until ``releaseHold(_:of:)``.
  func holdForLogout(_ journal: Identifier, of user: Identifier?) async -> Int {
    var count = 0
    for host in hosts { count += await host.prepareForLogout(user: user, journal: journal) }
    return count
  }

  /// Ends the hold of these hosts.
  func releaseHold(
    _ journal: Identifier, of isReleased: @Sendable (any SessionHost) -> Bool = { _ in true }
  ) async {
    for host in hosts where isReleased(host) { await host.cancelLogout(journal: journal) }
  }

  /// Has the hosts remove what they keep of a session; whether all of it is gone.
  func clear(_ ended: EndedSession) async -> Bool {
    var isDone = true
    // The time limit cancels the calls that are left, so those that it is not for come first.
    let separate = hosts.filter(\.separatesSignIns)
    let others = ended.hasLaterLogin ? [] : hosts.filter { !$0.separatesSignIns }
    for host in separate + others where host.hasUserData {
      do { try await host.sessionEnded(ended) } catch {
        // The host knows what it threw. The session only tries again.
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
    // The time is kept last. If the process dies before that, the change counts as new again.
    for host in hosts where !host.keepsStatusTimes { await host.accountStatusChanged(change) }
    for host in hosts where host.keepsStatusTimes { await host.accountStatusChanged(change) }
  }
}
