import SessionCore

extension IdentityTokens {
  /// The answer that these tokens are; the claims are hints and never verified.
  ///
  /// `session` is whose newer tokens they should be, `nil` at a sign-in.
  func answer(
    for wire: Wire, of session: Identifier? = nil, isOwned: Bool, at now: Timestamp
  ) throws(WebSignInProblem) -> TokenAnswer {
    guard access.isToken, refresh?.isToken ?? true else { throw .unreadableTokens }
    let payload = IdentityTokens.payload(of: access)
    let claims = payload.map { TokenClaims(payload: $0, keys: wire.keys.contexts) }
    let identity = self.identity.flatMap(IdentityTokens.payload)
    let sources = UserSources(
      members: JSONMembers([:]), access: payload, identity: identity, userName: nil,
      expected: session, isBesideToken: session != nil)
    var found = user
    if found == nil {
      do throws(Unreadable) {
        found = try wire.user(session == nil ? .login : .refresh, sources)
      } catch {
        // A source that cannot be read says nothing; below is the last one.
      }
    }
    if session == nil {
      found =
        found ?? identity.flatMap(UserProfile.init(subjectOf:))
        ?? payload.flatMap(UserProfile.init(subjectOf:))
      guard let id = found?.id, !id.isAddress, !id.description.isEmpty else {
        throw .unreadableTokens
      }
    }
    let end = claims?.expiresAt.map { $0.milliseconds(since: now) }
    return TokenAnswer(
      access: access, refresh: isOwned || wire.endpoints.refresh == nil ? nil : refresh,
      lifetime: lifetime ?? end ?? wire.assumedLifetime ?? 0,
      tokenID: claims?.tokenID.flatMap { $0.isAddress ? nil : $0 }, user: found,
      tokenContext: claims?.context)
  }

  /// The claims of a token; `nil` where it has none that can be read.
  private static func payload(of token: Secret) -> JSONMembers? {
    do { return try TokenClaims.payload(of: token) } catch {
      // Opaque: it says nothing of itself.
      return nil
    }
  }
}

extension UserProfile {
  /// The user whom a token's `sub` names.
  fileprivate init?(subjectOf claims: JSONMembers) {
    guard let id = claims.identifierHint("sub"), !id.isAddress else { return nil }
    self.init(id: id, email: claims.hint(["email", "emails.0"]))
  }
}
