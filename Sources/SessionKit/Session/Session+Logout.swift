@_spi(Internals) public import SessionCore
import SessionJournal

extension Session {
  /// Logs the user out.
  ///
  /// After the event is durable, nothing brings the session back.
  ///
  /// With ``/SessionCore/LogoutScope/thisDeviceOnly`` nothing is revoked at the server, now or later. Everything
  /// else is the same.
  ///
  /// It returns after three steps:
  ///
  /// - The stored items are removed.
  /// - The hosts have cleared their data (``SessionHost/sessionEnded(_:)``).
  /// - The server has responded or could not be reached.
  ///
  /// It returns `alreadyLoggedOut` if no user is signed in by the journal, which other processes
  /// also write. If the secrets of a journal that is missed are kept, it removes them and returns
  /// `success` (``/SessionCore/SessionPolicy/Recovery``). It also removes those of a login in a
  /// journal that was at the same path while this one was missing.
  ///
  /// - Throws: `pendingChanges` if the hosts have unsent changes and `discardingPendingChanges` is
  ///   `false`. After they are counted, the hosts accept no changes until this has ended.
  /// - Throws: `storage` if the event could not be journaled. Then nothing has changed.
  /// - Throws: `cancelled` if its task is cancelled, before or during the wait. The logout
  ///   continues.
  /// - Throws: `closed` if the session is closed meanwhile. If the event is durable, the logout
  ///   continues.
  ///
  /// - Requirement: OUT-1, OUT-2, OUT-3, OUT-7
  @discardableResult
  public func logout(
    _ scope: LogoutScope = .deviceAndServer, discardingPendingChanges: Bool = false
  ) async throws(SessionError) -> LogoutOutcome {
    let (reply, isCleared) = try await engine.logOut(
      scope, discardingPendingChanges: discardingPendingChanges)
    guard case .loggedOut(let outcome, let status, let isWiped) = reply else {
      return .alreadyLoggedOut
    }
    guard isWiped else { return .partial(.itemsRemain) }
    guard isCleared else { return .partial(.localDataRemains) }
    return switch outcome {
    case .failed: .partial(.serverNotTold(status: status == 0 ? nil : status))
    case .abandoned: .partial(.notRevocable)
    default: .success
    }
  }

  /// The identifier of the session's journal.
  package var journal: Identifier { engine.log.identifier.asIdentifier }
}

// The parts of a logout at the provider's page (OUT-8).
extension Session {
  package func keepProviderPage() async throws(SessionError) -> ProviderPage? {
    try await engine.keepProviderPage()
  }

  package func pendingProviderPage() async throws(SessionError) -> ProviderPage? {
    try await engine.pendingProviderPage()
  }

  package func forgetProviderPage() async throws(SessionError) {
    try await engine.forgetProviderPage()
  }
}

/// How a logout ended.
///
/// After every outcome, no user is signed in.
///
/// - Requirement: OUT-2
public enum LogoutOutcome: Hashable, Sendable, CustomStringConvertible {
  /// The user is logged out, and the stored items are removed.
  ///
  /// The server confirmed the logout, has no request for it, or was not asked
  /// (``/SessionCore/LogoutScope/thisDeviceOnly``).
  case success
  /// The user is logged out, but a later step failed.
  case partial(Problem)
  /// No user was signed in, and nothing was journaled.
  case alreadyLoggedOut

  /// A step of a logout that failed.
  public enum Problem: Hashable, Sendable {
    /// The server did not confirm the logout.
    ///
    /// The session tries again while it is open, and when it is opened next. `status` is the HTTP
    /// status; `nil` if there was no response.
    case serverNotTold(status: UInt16?)
    /// The session has no token with which the server could revoke its tokens.
    ///
    /// The stored tokens could not be read, or the response that replaced them was lost. The
    /// session does not try again. The tokens stay valid until they expire at the server.
    case notRevocable
    /// A stored item could not be removed.
    ///
    /// The session tries again when it is opened next.
    case itemsRemain
    /// The app's data or changes could not be cleared.
    ///
    /// The session tries again automatically, before the next sign-in and when it is opened next.
    case localDataRemains
  }

  /// A description in English, for developers.
  public var description: String {
    switch self {
    case .success: "logged out"
    case .partial(.serverNotTold(let status)):
      "logged out, but the server did not confirm the logout"
        + (status.map { " (status \($0))" } ?? "") + "; the session tries again at the next open"
    case .partial(.notRevocable):
      "logged out, but no token is left with which the server could revoke the session's tokens; "
        + "they stay valid until they expire there"
    case .partial(.itemsRemain):
      "logged out, but a stored item could not be removed; the session tries again at the next open"
    case .partial(.localDataRemains):
      "logged out, but the app's data could not be cleared; the session tries again at the next "
        + "open"
    case .alreadyLoggedOut: "no user was logged in"
    }
  }
}
