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
    /// The session tries again when it is opened next. `status` is the HTTP status; `nil` if there
    /// was no response.
    case serverNotTold(status: UInt16?)
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
      "logged out; the server was not told"
        + (status.map { " (status \($0))" } ?? "") + ", which is tried again at the next open"
    case .partial(.itemsRemain):
      "logged out; a stored item could not be removed, which is tried again at the next open"
    case .partial(.localDataRemains):
      "logged out; the app's data could not be cleared, which is tried again at the next open"
    case .alreadyLoggedOut: "nobody was signed in"
    }
  }
}
