/// How a logout ended.
///
/// Whatever it was, nobody is signed in any more.
///
/// - Requirement: OUT-2
public enum LogoutOutcome: Hashable, Sendable, CustomStringConvertible {
  /// Logged out and wiped. The server was told, has no request for that, or was not to be told
  /// (``LogoutScope/thisDeviceOnly``).
  case success
  /// Logged out; something that should follow did not succeed.
  case partial(Problem)
  /// Nobody was signed in; nothing was journaled.
  case alreadyLoggedOut

  /// What did not succeed.
  public enum Problem: Hashable, Sendable {
    /// The server was not told; it is tried again when the session is next opened. The HTTP status,
    /// or `nil` where none came.
    case serverNotTold(status: UInt16?)
    /// A stored item could not be removed; it is tried again when the session is next opened.
    case itemsRemain
    /// The app's data or changes could not be cleared; it is tried again by itself, before the next sign-in
    /// and when the session is next opened.
    case localDataRemains
  }

  /// A sentence for people.
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
