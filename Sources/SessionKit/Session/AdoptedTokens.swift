public import SessionCore

/// Tokens that an app's old session layer holds, to be taken over once; shown without any.
///
/// - Requirement: LOG-9
public struct AdoptedTokens: Hashable, Sendable {
  /// The access token.
  public var access: Secret
  /// The refresh token, where there is one.
  public var refresh: Secret?
  /// How long the access token is still valid; if `nil`, until the time that its `exp` says.
  ///
  /// If that is missing too, as long as the backend assumes of a token whose response does not say it. If it
  /// assumes nothing, the token counts as expired and is refreshed at once.
  public var lifetime: Duration?
  /// Who the user is; where `nil`, whom the access token's `sub` names.
  public var user: UserProfile?
  /// The context that the user acts in; where `nil`, what the access token claims.
  public var context: ActiveContext?

  /// Tokens of an old layer.
  public init(
    access: Secret, refresh: Secret? = nil, lifetime: Duration? = nil, user: UserProfile? = nil,
    context: ActiveContext? = nil
  ) {
    self.access = access
    self.refresh = refresh
    self.lifetime = lifetime
    self.user = user
    self.context = context
  }

  private static func milliseconds(_ lifetime: Duration) -> Int64 {
    min(lifetime.wholeMilliseconds, TokenMetadata.unknownLifetime)
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
      lifetime: lifetime.map(Self.milliseconds) ?? end ?? reader.assumedLifetime ?? 0,
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
