public import SessionCore

/// Something beside the session that keeps what a user did, such as the app's own data.
///
/// ``SessionConfiguration/add(host:)`` adds a host to a session. Each function has a default, so a host
/// implements those that it needs. No function may wait for the session, and each call may be repeated.
///
/// The session calls its hosts one after the other, in the order in which they were added. Two calls go to
/// one group of hosts before the other, and within a group in the order in which they were added:
///
/// | call | first | then |
/// | --- | --- | --- |
/// | ``sessionEnded(_:)`` | hosts that tell sign-ins apart (``separatesSignIns``) | the others, which have a time limit |
/// | ``accountStatusChanged(_:)`` | hosts that keep no times | hosts that do (``keepsStatusTimes``) |
public protocol SessionHost: Sendable {
  // MARK: What a session may assume

  /// Whether the host keeps data that goes with a logout; `true` by default.
  ///
  /// If it does not, ``sessionEnded(_:)`` is never called, and ``cancelLogout(journal:)`` is called after a
  /// logout too.
  var hasUserData: Bool { get }

  /// Whether the host can tell the data of one sign-in from that of the next one; `false` by default.
  ///
  /// If it cannot, ``sessionEnded(_:)`` is not called any more after a user has signed in: what is there then
  /// may be the new user's.
  var separatesSignIns: Bool { get }

  /// Whether the host keeps the times of ``lastKnownStatus(of:)``; `false` by default.
  ///
  /// If no host keeps them, every profile counts, and ``accountStatusChanged(_:)`` is never called.
  var keepsStatusTimes: Bool { get }

  // MARK: A logout

  /// The number of changes that the server has not taken, before a logout; 0 by default.
  ///
  /// If the hosts of a session have any, the logout throws `pendingChanges` with their sum. A logout that may
  /// discard them does not ask. A host that has none holds: it takes in no further changes through this
  /// session. The hold ends with ``cancelLogout(journal:)`` or ``sessionEnded(_:)``. One of them follows on
  /// every path, unless the process dies. So keep the hold in memory, or give it an end.
  ///
  /// - Parameters:
  ///   - user: The session's user; `nil` if nobody is signed in.
  ///   - journal: The identifier of the session's journal.
  /// - Requirement: OUT-3
  func prepareForLogout(user: Identifier?, journal: Identifier) async -> Int

  /// Ends the hold of ``prepareForLogout(user:journal:)``: further changes are taken in again.
  ///
  /// Called if the logout does not happen, whatever the reason, also if its task was cancelled. Called after a
  /// logout, too, if ``sessionEnded(_:)`` is not called for this host: it keeps no data, or a user has signed
  /// in before it succeeded.
  func cancelLogout(journal: Identifier) async

  /// Removes what the host keeps of a session that has ended: after every logout, by the user, by the policy
  /// or because the account was deleted, and never when a session only expires.
  ///
  /// At least once: if the process dies in it, it is called again when the session is opened next; so what is
  /// gone already is no error. Until it returns, `logout` does not, and nobody signs in. It has a time limit,
  /// see ``SessionConfiguration/clearLocalDataLimit``. `close` does not wait for it and says if it still runs:
  /// when the session is opened again meanwhile, it is called again beside the first call. If several
  /// processes share a journal, give a host that cannot tell sign-ins apart to one of them.
  ///
  /// If it throws, the data counts as not cleared, and a logout is `partial`. Then all hosts are called again:
  /// a few times while the session lives, before the next sign-in, and when the session is opened next.
  ///
  /// - Requirement: SYN-5
  func sessionEnded(_ session: EndedSession) async throws

  // MARK: The user's status

  /// The time of the last change of a user's status at the server, as far as the host knows; `nil` by default.
  ///
  /// Asked for with each profile, which is asked by `policy.limits.profileCheck`. A profile of an older change
  /// (`HTTPBackend.response.statusChangedAt`) came from a replica or a cache: that it calls the user inactive or deleted
  /// ends nothing.
  ///
  /// - Requirement: SYN-4
  func lastKnownStatus(of user: Identifier) async -> Timestamp?

  /// The status of the session's user has changed since it was known: what is kept of theirs must be synced
  /// anew. A host with ``keepsStatusTimes`` keeps the time for ``lastKnownStatus(of:)``.
  ///
  /// At least once: if the process dies in it, it is called again with the next profile.
  ///
  /// - Requirement: SYN-4
  func accountStatusChanged(_ change: StatusChange) async
}

extension SessionHost {
  /// `true`.
  public var hasUserData: Bool { true }
  /// `false`.
  public var separatesSignIns: Bool { false }
  /// `false`.
  public var keepsStatusTimes: Bool { false }
  /// No changes.
  public func prepareForLogout(user: Identifier?, journal: Identifier) async -> Int { 0 }
  /// Does nothing.
  public func cancelLogout(journal: Identifier) async {}
  /// Does nothing.
  public func sessionEnded(_ session: EndedSession) async throws {}
  /// Nothing is known.
  public func lastKnownStatus(of user: Identifier) async -> Timestamp? { nil }
  /// Does nothing.
  public func accountStatusChanged(_ change: StatusChange) async {}
}

/// A session that was ended by a logout, as its hosts learn of it.
public struct EndedSession: Hashable, Sendable {
  /// Why it ended.
  public let reason: LogoutReason
  /// Its user; `nil` if that is not known any more.
  public let user: Identifier?
  /// The identifier of its journal.
  public let journal: Identifier
  /// The number of its last token, or a later number that no token of another sign-in has.
  ///
  /// Each token of a journal has a number of its own, and numbers only grow.
  public let generation: Generation
  /// Whether a user has signed in since.
  ///
  /// Only a host that ``SessionHost/separatesSignIns`` receives such a session.
  public internal(set) var hasLaterLogin: Bool

  /// A session that has ended.
  public init(
    reason: LogoutReason, user: Identifier?, journal: Identifier, generation: Generation,
    hasLaterLogin: Bool = false
  ) {
    (self.reason, self.user) = (reason, user)
    (self.journal, self.generation) = (journal, generation)
    self.hasLaterLogin = hasLaterLogin
  }
}

/// A host made of closures; each is `nil` if not said.
package struct SessionHooks: SessionHost {
  /// How many changes of the user the server has not taken (``SessionHost/prepareForLogout(user:journal:)``).
  package var pendingChanges: (@Sendable () async -> Int)?
  /// Removes the app's own data of the user (``SessionHost/sessionEnded(_:)``).
  ///
  /// Not called once a user has signed in: the data may be the new user's.
  package var clearLocalData: (@Sendable (LogoutReason) async throws -> Void)?
  /// When the status of a user last changed (``SessionHost/lastKnownStatus(of:)``).
  package var knownStatus: (@Sendable (Identifier) async -> Timestamp?)?
  /// Receives the change of a user's status (``SessionHost/accountStatusChanged(_:)``).
  package var statusChanged: (@Sendable (StatusChange) async -> Void)?

  /// A host of these closures.
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
