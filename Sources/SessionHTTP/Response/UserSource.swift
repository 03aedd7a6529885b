@_spi(Internals) import SessionCore
import SessionKit

/// Where a response says who the user is.
public enum UserSource: Hashable, Sendable {
  /// One of the tokens of a response.
  public enum Token: String, Hashable, Sendable {
    /// The access token.
    case access = "access token"
    /// The identity token of OpenID Connect.
    case identity = "identity token"
  }

  /// An object of the response, with the members that ``ResponseMapping`` names; ``MemberPath/whole`` for its top level.
  case member(MemberPath)
  /// A claim with the identifier, of a token of three parts; the profile is from the same token's
  /// `email` or the first of `emails`, `given_name` and `family_name`.
  case claim(MemberPath, of: Token = .access)
  /// The keyed digest of a member, such as an e-mail address: for a backend that names its users by
  /// nothing else. It is the same at a sign-in and at a refresh.
  case digest(MemberPath, UserNameKey)
  /// The keyed digest of the user name of the sign-in: for a backend that names its users nowhere.
  case userName(UserNameKey)
}

extension UserSource {
  /// The name under which a session remembers the source.
  ///
  /// An object of the response counts with the member that identifies the user in it.
  func label(userID: MemberPath) -> String {
    switch self {
    case .member(let path): "member \(path) \(userID)"
    case .claim(let path, let token): UserClaim(path.steps, of: token.kind).label
    case .digest(let path, _): "digest of \(path)"
    case .userName: "user name"
    }
  }

  /// What the journal says of it; `nil` if no response to a refresh has it.
  var naming: NamingSource? {
    switch self {
    case .member, .digest: .member
    case .claim(let path, let token): UserClaim(path.steps, of: token.kind).naming
    case .userName: nil
    }
  }

  var isClaim: Bool {
    if case .claim = self { true } else { false }
  }
}

extension UserSource.Token {
  var kind: UserClaim.Token { self == .access ? .access : .identity }
}
