public import SessionCore

/// Tokens that an app's old session layer holds, to be taken over once (LOG-9); shown without any.
public struct AdoptedTokens: Hashable, Sendable {
  /// The access token.
  public var access: Secret
  /// The refresh token, where there is one.
  public var refresh: Secret?
  /// How long the access token is still good, in milliseconds; where `nil`, until its `exp` says.
  ///
  /// Where that is missing too, as long as the backend assumes of a token whose answer does not say it,
  /// and where it assumes nothing, no longer: it is refreshed at once.
  public var lifetime: Int64?
  /// Who the user is; where `nil`, whom the access token's `sub` names.
  public var user: UserProfile?
  /// The context that the user acts in; where `nil`, what the access token claims.
  public var context: ActiveContext?

  /// Tokens of an old layer.
  public init(
    access: Secret, refresh: Secret? = nil, lifetime: Int64? = nil, user: UserProfile? = nil,
    context: ActiveContext? = nil
  ) {
    self.access = access
    self.refresh = refresh
    self.lifetime = lifetime
    self.user = user
    self.context = context
  }

  /// The answer that a sign-in would have brought; its claims are hints and never verified.
  func answer(for reader: any TokenReader, at now: Timestamp) throws(SessionError) -> TokenResponse
  {
    guard access.isToken, refresh?.isToken ?? true else {
      throw .unreadableAnswer("a token is empty, or has characters that no token has")
    }
    let claims = TokenPayload.hints(access)
    let subject = claims?.identifierHint(at: ["sub"])
    let user = user ?? subject.map { UserProfile(id: $0, email: claims?.hint(at: [["email"]])) }
    if let id = user?.id, id.isAddress || id.description.isEmpty {
      throw .unreadableAnswer(
        "the user's id is \(id.isAddress ? Identifier.addressProblem : "empty"); say another")
    }
    let end = claims?.time("exp").map { $0.milliseconds(since: now) }
    let response = TokenResponse(
      access: access, refresh: reader.refreshesTokens ? refresh : nil,
      lifetime: lifetime ?? end ?? reader.assumedLifetime ?? 0,
      tokenID: claims?.identifierHint(at: ["jti"]).flatMap { $0.isAddress ? nil : $0 },
      user: user, context: context, tokenContext: claims.flatMap(reader.context))
    return reader.expectingRefreshToken(response)
  }
}

extension AdoptedTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Always `<redacted>`.
  public var description: String { "<redacted>" }

  /// Always `<redacted>`.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// What became of tokens that were to be adopted.
public enum Adoption: Hashable, Sendable {
  /// They are the session's now, durably: the old layer's copy can be removed.
  case adopted
  /// Nothing was done: this journal has had a token before, and a session that was ended since does
  /// not come back by what an old layer left. Its copy can be removed as well.
  case settledBefore
}
