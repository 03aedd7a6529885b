@_spi(Internals) import SessionCore

/// Finds the user whom an SDK's tokens name.
struct TokenNames {
  /// The user whom the SDK names in addition to the tokens.
  let user: UserProfile?
  let access: JSONMembers?
  let identity: JSONMembers?

  /// Returns the user who signs in.
  ///
  /// It is the user whom the SDK names, else the first whom the backend's sources name, else `sub`.
  func user(for reader: any TokenReader) -> FoundUser? {
    namedBySDK ?? reader.user(access: access, identity: identity) ?? subject(of: .identity)
      ?? subject(of: .access)
  }

  private var namedBySDK: FoundUser? {
    user.map {
      FoundUser(
        profile: $0, origin: UserOrigin(source: UserOrigin.provider, value: $0.id.description))
    }
  }

  private func subject(of token: UserClaim.Token) -> FoundUser? {
    (token == .access ? access : identity).flatMap(UserProfile.init(subjectOf:)).map {
      FoundUser(
        profile: $0,
        origin: UserOrigin(
          source: UserClaim(["sub"], of: token).label, value: $0.id.description))
    }
  }

  /// Returns the user whom newer tokens name; `nil` if they name no user.
  ///
  /// It is the session's user or, if that is certain, another one.
  ///
  /// Only the source that named the session's user can prove that it is another user: the SDK, or a
  /// claim. If that source is silent, the same claim of the previous access token decides. Throws
  /// if neither decides.
  ///
  /// - Requirement: LOG-12
  func user(
    after before: IdentityPredecessor, old: JSONMembers?, for reader: any TokenReader
  ) throws(WebSignInProblem) -> FoundUser? {
    let expected = before.user
    if expected.origin?.source == UserOrigin.provider, let named = namedBySDK {
      guard named.origin == expected.origin else { return .another(by: .provider) }
      return named.of(expected)
    }
    let claims =
      [UserClaim(["sub"], of: .identity), UserClaim(["sub"], of: .access)] + reader.userClaims
    let decisive = claims.first { $0.label == expected.origin?.source }
    if let decisive, let now = name(decisive), now.description != expected.origin?.value {
      return .another(by: decisive.naming)
    }
    let found = self.user(for: reader)
    let names = claims.compactMap(name) + (user.map { [$0.id] } ?? [])
    guard decisive.flatMap(name) == nil, !names.contains(expected.id) else {
      return found?.profile.id == expected.id
        ? found?.of(expected) : FoundUser(profile: UserProfile(id: expected.id), origin: nil)
    }
    guard found != nil else { return nil }
    var isSame = false
    for claim in claims where claim.token == .access {
      guard let was = old?.identifierHint(at: claim.steps),
        let now = access?.identifierHint(at: claim.steps)
      else { continue }
      guard was == now else { return .another(by: .accessToken) }
      isSame = true
    }
    guard isSame else { throw .unreadableTokens }
    return nil
  }

  private func name(_ claim: UserClaim) -> Identifier? {
    (claim.token == .access ? access : identity)?.identifierHint(at: claim.steps)
  }
}

extension FoundUser {
  /// Returns the session's user, with the source that the session remembers, if it remembers one.
  fileprivate func of(_ expected: ExpectedUser) -> FoundUser {
    var found = self
    found.profile = profile.renamed(expected.id)
    found.origin = expected.origin ?? origin
    return found
  }
}

extension UserProfile {
  /// Creates the user whom a token's `sub` names.
  fileprivate init?(subjectOf claims: JSONMembers) {
    guard let id = claims.identifierHint(at: ["sub"]), !id.isAddress else { return nil }
    self.init(id: id, email: claims.hint(at: [["email"], ["emails", "0"]]))
  }
}
