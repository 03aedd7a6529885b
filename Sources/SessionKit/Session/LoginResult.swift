/// How a login succeeded.
///
/// - Requirement: LOG-5, LOG-14
public enum LoginResult: Hashable, Sendable {
  /// A user is signed in, and durably so; `nil` if the profile is not known.
  case loggedIn(UserProfile?)
  /// The account exists now and no user is signed in, such as until the e-mail address is confirmed.
  case accountCreated

  /// The user who is signed in; `nil` after ``accountCreated``, and if the profile is not known.
  public var user: UserProfile? {
    switch self {
    case .loggedIn(let user): user
    case .accountCreated: nil
    }
  }
}
