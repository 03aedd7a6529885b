@_spi(Internals) import SessionCore
import SessionKit

/// A part of a response that names the user.
public enum UserSource: Hashable, Sendable {
  /// A token in a response.
  public enum Token: String, Hashable, Sendable {
    /// The access token.
    case access = "access token"
    /// The identity token of OpenID Connect.
    case identity = "identity token"
  }

  /// An object of the response, with the members that ``ResponseMapping`` names.
  ///
  /// ``MemberPath/whole`` is its top level.
  case member(MemberPath)
  /// A claim with the identifier, in a token of three parts.
  ///
  /// The profile is read from the same token: `email` or the first of `emails`, `given_name` and
  /// `family_name`.
  case claim(MemberPath, of: Token = .access)
  /// The keyed digest of a member, such as an e-mail address, for a backend without other
  /// identifiers.
  ///
  /// It is the same at a sign-in and at a refresh.
  case digest(MemberPath, UserNameKey)
  /// The keyed digest of the sign-in's user name, for a backend whose responses do not name the
  /// user.
  case userName(UserNameKey)
}

extension UserSource {
  /// Returns the stored name of the source.
  ///
  /// For an object of the response, it includes the member that identifies the user.
  func label(userID: MemberPath) -> String {
    switch self {
    case .member(let path): "member \(path) \(userID)"
    case .claim(let path, let token): UserClaim(path.steps, of: token.kind).label
    case .digest(let path, _): "digest of \(path)"
    case .userName: "user name"
    }
  }

  /// The name of the source in the journal; `nil` if no response to a refresh has it.
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
