import SessionCore

extension SessionConfiguration {
  /// Adds a host after those that were added before it.
  ///
  /// A host cannot be removed from a configuration or replaced. Add each host once.
  public mutating func add(host: any SessionHost) { hosts.append(host) }
}

/// The combined answers and calls of a session's hosts.
///
/// ``SessionHost`` documents the order of the calls.
extension SessionConfiguration {
  /// Whether a host keeps data that a logout removes.
  var hasLocalData: Bool { hosts.contains(where: \.hasUserData) }

  /// Whether a host keeps data that a logout removes even if a user has signed in since.
  var hasSeparateData: Bool { hosts.contains { $0.hasUserData && $0.separatesSignIns } }

  /// The time limit of clearing; `nil` for no limit, which is the case if every host can tell
  /// sign-ins apart.
  var clearingLimit: Duration? {
    hosts.contains { $0.hasUserData && !$0.separatesSignIns } ? clearLocalDataLimit : nil
  }

  /// Whether a host keeps the time of the last change of a user's status.
  var keepsStatusTimes: Bool { hosts.contains(where: \.keepsStatusTimes) }

  /// Returns the number of the user's changes that the server has not accepted.
  ///
  /// A host without such changes holds further ones until ``releaseHold(_:of:)``.
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

  /// Has the hosts remove what they keep of a session.
  ///
  /// Returns whether all of it is removed.
  func clear(_ ended: EndedSession) async -> Bool {
    var isDone = true
    // The time limit cancels the remaining calls. Hosts to which it does not apply are therefore
    // called first.
    let separate = hosts.filter(\.separatesSignIns)
    let others = ended.hasLaterLogin ? [] : hosts.filter { !$0.separatesSignIns }
    for host in separate + others where host.hasUserData {
      do { try await host.sessionEnded(ended) } catch {
        // The host knows its own error. The session only tries again.
        isDone = false
      }
    }
    return isDone
  }

  /// Returns the newest time at which a user's status changed, of all times that the hosts know.
  func lastKnownStatus(of user: Identifier) async -> Timestamp? {
    var newest: Timestamp?
    for host in hosts {
      let known = await host.lastKnownStatus(of: user)
      newest = [newest, known].compactMap(\.self).max()
    }
    return newest
  }

  /// Notifies each host that a user's status has changed.
  func accountStatusChanged(_ change: StatusChange) async {
    // The time is stored last. If the process dies before that, the change counts as new again.
    for host in hosts where !host.keepsStatusTimes { await host.accountStatusChanged(change) }
    for host in hosts where host.keepsStatusTimes { await host.accountStatusChanged(change) }
  }
}
