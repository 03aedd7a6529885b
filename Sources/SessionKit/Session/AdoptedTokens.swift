public import SessionCore

/// Tokens of an app's old session layer, which the session takes over once.
///
/// Descriptions do not show the tokens.
///
/// - Requirement: LOG-9
public struct AdoptedTokens: Hashable, Sendable {
  /// The access token.
  public var access: Secret
  /// The refresh token, if there is one.
  public var refresh: Secret?
  /// The time for which the access token is still valid.
  ///
  /// If it is `nil`, the token's `exp` claim decides.
  ///
  /// If `exp` is missing too, the backend's default lifetime counts. If the backend has no default,
  /// the token counts as expired and is refreshed at once.
  public var lifetime: Duration?
  /// The user.
  ///
  /// If it is `nil`, the access token's `sub` claim names the user.
  public var user: UserProfile?
  /// The context in which the user acts.
  ///
  /// If it is `nil`, the claims of the access token name it.
  public var context: ActiveContext?

  /// Creates a value with tokens of an old session layer.
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

  /// Returns the tokens as the response to a login.
  ///
  /// The claims of the tokens are hints. They are never verified.
  func answer(for reader: any TokenReader, at now: Timestamp) throws(SessionError) -> TokenResponse
  {
    guard access.isToken, refresh?.isToken ?? true else {
      throw .unreadableAnswer("a token is empty or contains a character that no token may contain")
    }
    let claims = TokenPayload.hints(access)
    let subject = claims?.identifierHint(at: ["sub"])
    let user = user ?? subject.map { UserProfile(id: $0, email: claims?.hint(at: [["email"]])) }
    if let id = user?.id, id.isAddress || id.description.isEmpty {
      throw .unreadableAnswer(
        "the user's id is \(id.isAddress ? Identifier.addressProblem : "empty"); use another id")
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
