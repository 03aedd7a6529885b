/// How a login succeeded.
///
/// - Requirement: LOG-5, LOG-14
public enum LoginResult: Hashable, Sendable {
  /// A user is signed in, and the `login` event is durable.
  ///
  /// The profile is `nil` if it is not known.
  case loggedIn(UserProfile?)
  /// The account exists now, but no user is signed in, for example until the e-mail address is
  /// confirmed.
  case accountCreated

  /// The user who is signed in; `nil` after ``accountCreated``, and if the profile is not known.
  public var user: UserProfile? {
    switch self {
    case .loggedIn(let user): user
    case .accountCreated: nil
    }
  }
}
