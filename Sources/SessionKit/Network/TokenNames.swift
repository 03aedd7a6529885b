@_spi(Internals) import SessionCore

/// Whom an SDK's tokens name.
struct TokenNames {
  /// Whom the SDK names beside them.
  let user: UserProfile?
  let access: JSONMembers?
  let identity: JSONMembers?

  /// The user who signs in: whom the SDK names, else the first whom the backend's sources do, else `sub`.
  func user(for backend: HTTPBackend) -> FoundUser? {
    if let named = namedBySDK { return named }
    let sources = UserSources(
      members: JSONMembers([:]), access: access, identity: identity, userName: nil, expected: nil,
      isBesideToken: false)
    do throws(Unreadable) {
      if let user = try backend.user(.login, sources) { return user }
    } catch {
      // A source that cannot be read says nothing.
    }
    return subject(of: .identity, backend) ?? subject(of: .access, backend)
  }

  private var namedBySDK: FoundUser? {
    user.map {
      FoundUser(
        profile: $0, origin: UserOrigin(source: UserOrigin.provider, value: $0.id.description))
    }
  }

  private func subject(of token: UserSource.Token, _ backend: HTTPBackend) -> FoundUser? {
    (token == .access ? access : identity).flatMap(UserProfile.init(subjectOf:)).map {
      FoundUser(
        profile: $0,
        origin: UserOrigin(
          source: UserSource.claim("sub", of: token).label(backend.keys),
          value: $0.id.description))
    }
  }

  /// Whom newer tokens name: the session's user or, if it is certain, another one; `nil` if no one is named.
  ///
  /// Throws if it cannot be told. The source that named the session's user says that it is another: the
  /// SDK, or a claim. If that source is silent, the same claim of the access token before does.
  ///
  /// - Requirement: LOG-12
  func user(
    after before: IdentityPredecessor, old: JSONMembers?, for backend: HTTPBackend
  ) throws(WebSignInProblem) -> FoundUser? {
    let expected = before.user
    if expected.origin?.source == UserOrigin.provider, let named = namedBySDK {
      guard named.origin == expected.origin else { return .another(by: .provider) }
      return named.of(expected)
    }
    let claims = backend.userClaims
    let decisive = claims.first {
      UserSource.claim($0.path, of: $0.token).label(backend.keys) == expected.origin?.source
    }
    if let decisive, let now = name(decisive), now.description != expected.origin?.value {
      return .another(by: UserSource.claim(decisive.path, of: decisive.token).naming)
    }
    let found = self.user(for: backend)
    let names = claims.compactMap(name) + (user.map { [$0.id] } ?? [])
    guard decisive.flatMap(name) == nil, !names.contains(expected.id) else {
      return found?.profile.id == expected.id
        ? found?.of(expected) : FoundUser(profile: UserProfile(id: expected.id), origin: nil)
    }
    guard found != nil else { return nil }
    var isSame = false
    for claim in claims where claim.token == .access {
      guard let was = old?.identifierHint(claim.path), let now = access?.identifierHint(claim.path)
      else { continue }
      guard was == now else { return .another(by: .accessToken) }
      isSame = true
    }
    guard isSame else { throw .unreadableTokens }
    return nil
  }

  private func name(_ claim: (path: MemberPath, token: UserSource.Token)) -> Identifier? {
    (claim.token == .access ? access : identity)?.identifierHint(claim.path)
  }
}

extension FoundUser {
  /// The session's user, with the source that it remembers, if it remembers one.
  fileprivate func of(_ expected: ExpectedUser) -> FoundUser {
    var found = self
    found.profile = profile.renamed(expected.id)
    found.origin = expected.origin ?? origin
    return found
  }
}

extension HTTPBackend {
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
