/// Where a login's answer says who the user is.
public enum UserSource: Hashable, Sendable {
  /// One of the tokens of an answer.
  public enum Token: String, Hashable, Sendable {
    /// The access token.
    case access = "access token"
    /// The identity token of OpenID Connect.
    case identity = "identity token"
  }

  /// An object of the answer, with the names of ``WireKeys``; ``MemberPath/whole`` for its top level.
  case member(MemberPath)
  /// A claim with the identifier, of a token of three parts; the profile is from the same token's
  /// `email` or the first of `emails`, `given_name` and `family_name`.
  case claim(MemberPath, of: Token = .access)
  /// Nobody says it: the identifier is a keyed digest of the user name that was signed in with.
  case userName(UserNameKey)
}
