public import SessionCore

/// A part of the app that keeps data of the session's user, such as the app's own data.
///
/// ``SessionConfiguration/add(host:)`` adds a host to a session. Each function has a default, so a
/// host implements those that it needs. No function may wait for the session, and each call may be
/// repeated.
///
/// The session calls its hosts one after the other, in the order in which they were added. Two
/// calls go to one group of hosts before the other. Within a group, the order is again that in
/// which they were added:
///
/// | call | first | then |
/// | --- | --- | --- |
/// | ``sessionEnded(_:)`` | hosts with ``separatesSignIns`` | the others, which have a time limit |
/// | ``accountStatusChanged(_:)`` | hosts that keep no times | hosts with ``keepsStatusTimes`` |
public protocol SessionHost: Sendable {
  // MARK: What a session may assume

  /// Whether the host keeps data that a logout removes; `true` by default.
  ///
  /// If it is `false`, ``sessionEnded(_:)`` is never called, and ``cancelLogout(journal:)`` is also
  /// called after a logout.
  var hasUserData: Bool { get }

  /// Whether the host can tell the data of one sign-in from that of the next one; `false` by
  /// default.
  ///
  /// If it is `false`, ``sessionEnded(_:)`` is not called any more after a user has signed in. The
  /// data may then be the new user's.
  var separatesSignIns: Bool { get }

  /// Whether the host keeps the times of ``lastKnownStatus(of:)``; `false` by default.
  ///
  /// If no host keeps them, only the order of the requests counts, and
  /// ``accountStatusChanged(_:)`` is never called.
  var keepsStatusTimes: Bool { get }

  // MARK: A logout

  /// Returns the number of changes that the server has not accepted, before a logout; 0 by default.
  ///
  /// If the hosts of a session have any, the logout throws `pendingChanges` with their sum. A
  /// logout that may discard them does not ask.
  ///
  /// A host without such changes holds: it accepts no further changes through this session. The
  /// hold ends with ``cancelLogout(journal:)`` or ``sessionEnded(_:)``. One of them follows on
  /// every path, unless the process dies. So keep the hold in memory, or limit its time.
  ///
  /// - Parameters:
  ///   - user: The session's user; `nil` if no user is signed in.
  ///   - journal: The identifier of the session's journal.
  /// - Requirement: OUT-3
  func prepareForLogout(user: Identifier?, journal: Identifier) async -> Int

  /// Ends the hold of ``prepareForLogout(user:journal:)``, so that the host accepts changes again.
  ///
  /// It is called if the logout does not happen for any reason, including cancellation. It is also
  /// called after a logout if ``sessionEnded(_:)`` is not called for this host. Then the host keeps
  /// no data, or a user has signed in before that call succeeded.
  func cancelLogout(journal: Identifier) async

  /// Removes what the host keeps of a session that has ended.
  ///
  /// It is called after every logout: by the user, by the policy, or because the account was
  /// deleted. It is not called when a session expires.
  ///
  /// - Repetition: it is called at least once. If the process dies during the call, the next
  ///   opening repeats it. So data that is already removed is no error.
  /// - Waiting: until it returns, `logout` does not return, and no user can sign in. Its time limit
  ///   is ``SessionConfiguration/clearLocalDataLimit``.
  /// - Closing: `close` does not wait for it, and returns whether it still runs. If the session is
  ///   opened again meanwhile, a second call begins next to the first.
  /// - Processes: if several processes share a journal, give a host that cannot tell sign-ins apart
  ///   to one of them.
  /// - Errors: if it throws, the data counts as not cleared, and a logout is `partial`. All hosts
  ///   are then called again: a few times while the session lives, before the next sign-in, and
  ///   when the session is opened next.
  ///
  /// - Requirement: SYN-5
  func sessionEnded(_ session: EndedSession) async throws

  // MARK: The user's status

  /// Returns the time of the last change of a user's status at the server, as far as the host
  /// knows; `nil` by default.
  ///
  /// The session asks this for each profile, which it requests as `policy.limits.profileCheck`
  /// says. A profile with an older change (`HTTPBackend.response.statusChangedAt`) came from a
  /// replica or a cache. If it calls the user inactive or deleted, that has no effect.
  ///
  /// - Requirement: SYN-4
  func lastKnownStatus(of user: Identifier) async -> Timestamp?

  /// Receives a change of the status of the session's user.
  ///
  /// The app must sync the user's data again. A host with ``keepsStatusTimes`` keeps the time for
  /// ``lastKnownStatus(of:)``.
  ///
  /// It is called at least once. If the process dies during the call, the next profile repeats it.
  ///
  /// - Requirement: SYN-4
  func accountStatusChanged(_ change: StatusChange) async
}

extension SessionHost {
  /// Returns `true`.
  public var hasUserData: Bool { true }
  /// Returns `false`.
  public var separatesSignIns: Bool { false }
  /// Returns `false`.
  public var keepsStatusTimes: Bool { false }
  /// Returns 0.
  public func prepareForLogout(user: Identifier?, journal: Identifier) async -> Int { 0 }
  /// Does nothing.
  public func cancelLogout(journal: Identifier) async {}
  /// Does nothing.
  public func sessionEnded(_ session: EndedSession) async throws {}
  /// Returns `nil`.
  public func lastKnownStatus(of user: Identifier) async -> Timestamp? { nil }
  /// Does nothing.
  public func accountStatusChanged(_ change: StatusChange) async {}
}

/// A session that ended with a logout, as its hosts receive it.
public struct EndedSession: Hashable, Sendable {
  /// The reason of the logout.
  public let reason: LogoutReason
  /// The session's user; `nil` if that is not known any more.
  public let user: Identifier?
  /// The identifier of the session's journal.
  public let journal: Identifier
  /// The generation of its last token, or a later one that no token of another sign-in has.
  ///
  /// Each token of a journal has its own number, and numbers only grow.
  public let generation: Generation
  /// Whether a user has signed in since.
  ///
  /// Only a host with ``SessionHost/separatesSignIns`` receives such a session.
  public internal(set) var hasLaterLogin: Bool

  /// Creates the value of a session that has ended.
  public init(
    reason: LogoutReason, user: Identifier?, journal: Identifier, generation: Generation,
    hasLaterLogin: Bool = false
  ) {
    (self.reason, self.user) = (reason, user)
    (self.journal, self.generation) = (journal, generation)
    self.hasLaterLogin = hasLaterLogin
  }
}

/// A host made of closures.
///
/// Each closure is `nil` by default.
package struct SessionHooks: SessionHost {
  /// Returns the number of the user's changes that the server has not accepted
  /// (``SessionHost/prepareForLogout(user:journal:)``).
  package var pendingChanges: (@Sendable () async -> Int)?
  /// Removes the app's own data of the user (``SessionHost/sessionEnded(_:)``).
  ///
  /// It is not called after a user has signed in, since the data may be the new user's.
  package var clearLocalData: (@Sendable (LogoutReason) async throws -> Void)?
  /// Returns when the status of a user last changed (``SessionHost/lastKnownStatus(of:)``).
  package var knownStatus: (@Sendable (Identifier) async -> Timestamp?)?
  /// Receives the change of a user's status (``SessionHost/accountStatusChanged(_:)``).
  package var statusChanged: (@Sendable (StatusChange) async -> Void)?

  /// Creates a host of these closures.
  package init(
    pendingChanges: (@Sendable () async -> Int)? = nil,
    clearLocalData: (@Sendable (LogoutReason) async throws -> Void)? = nil,
    knownStatus: (@Sendable (Identifier) async -> Timestamp?)? = nil,
    statusChanged: (@Sendable (StatusChange) async -> Void)? = nil
  ) {
    (self.pendingChanges, self.clearLocalData) = (pendingChanges, clearLocalData)
    (self.knownStatus, self.statusChanged) = (knownStatus, statusChanged)
  }

  /// Whether ``clearLocalData`` is set.
  package var hasUserData: Bool { clearLocalData != nil }

  /// Whether ``knownStatus`` is set.
  package var keepsStatusTimes: Bool { knownStatus != nil }

  /// Calls ``pendingChanges``.
  package func prepareForLogout(user: Identifier?, journal: Identifier) async -> Int {
    await pendingChanges?() ?? 0
  }

  /// Calls ``clearLocalData``.
  package func sessionEnded(_ session: EndedSession) async throws {
    try await clearLocalData?(session.reason)
  }

  /// Calls ``knownStatus``.
  package func lastKnownStatus(of user: Identifier) async -> Timestamp? {
    await knownStatus?(user)
  }

  /// Calls ``statusChanged``.
  package func accountStatusChanged(_ change: StatusChange) async { await statusChanged?(change) }
}

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
    // A slow host of the app would else keep a change log from ending the login, and another
    // process could still add changes through it. The order does not depend on the lines of the
    // app: a mistake there would show up in production.
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
