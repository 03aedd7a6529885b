import SessionCore

/// Whom an SDK's tokens name.
struct TokenNames {
  /// Whom the SDK names beside them.
  let user: UserProfile?
  let access: JSONMembers?
  let identity: JSONMembers?

  /// The user who signs in: whom the SDK names, else the first whom the wire's sources do, else `sub`.
  func user(for wire: Wire) -> UserProfile? {
    if let user { return user }
    let sources = UserSources(
      members: JSONMembers([:]), access: access, identity: identity, userName: nil, expected: nil,
      isBesideToken: false)
    do throws(Unreadable) {
      if let user = try wire.user(.login, sources) { return user }
    } catch {
      // A source that cannot be read says nothing.
    }
    return identity.flatMap(UserProfile.init(subjectOf:))
      ?? access.flatMap(UserProfile.init(subjectOf:))
  }

  /// Whom newer tokens name: the session's user or, where it is certain, another one; `nil` where nobody is
  /// named.
  ///
  /// Throws where it cannot be told. A user is known by one claim at the sign-in and may be named by another one now. So what says that it
  /// is another is the SDK itself, or the same claim of the access token before.
  func user(
    after before: IdentityPredecessor, old: JSONMembers?, for wire: Wire
  ) throws(WebSignInProblem) -> UserProfile? {
    if let user { return user }
    let found = self.user(for: wire)
    let claims = wire.userClaims
    let names = claims.compactMap { claim in
      (claim.token == .access ? access : identity)?.identifierHint(claim.path)
    }
    guard !names.contains(before.user) else {
      return found?.id == before.user ? found : UserProfile(id: before.user)
    }
    guard found != nil else { return nil }
    var isSame = false
    for claim in claims where claim.token == .access {
      guard let was = old?.identifierHint(claim.path), let now = access?.identifierHint(claim.path)
      else { continue }
      guard was == now else { return UserProfile(id: now) }
      isSame = true
    }
    guard isSame else { throw .unreadableTokens }
    return nil
  }
}

extension Wire {
  /// The claims that may name a user.
  fileprivate var userClaims: [(path: MemberPath, token: UserSource.Token)] {
    var claims: [(path: MemberPath, token: UserSource.Token)] = [
      ("sub", .identity), ("sub", .access),
    ]
    for case .claim(let path, let token) in answer.user { claims.append((path, token)) }
    return claims
  }
}

extension UserProfile {
  /// The user whom a token's `sub` names.
  fileprivate init?(subjectOf claims: JSONMembers) {
    guard let id = claims.identifierHint("sub"), !id.isAddress else { return nil }
    self.init(id: id, email: claims.hint(["email", "emails.0"]))
  }
}
