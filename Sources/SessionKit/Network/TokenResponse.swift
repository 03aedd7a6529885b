@_spi(Internals) public import SessionCore

/// The tokens that a backend issued, and what came with them; shown without any of it.
public struct TokenResponse: Hashable, Sendable {
  /// The access token.
  public var access: Secret
  /// The refresh token; `nil` keeps the one there is.
  ///
  /// - Requirement: REF-5
  public var refresh: Secret?
  /// How long the access token is valid from when the response arrived: from 1 ms to ten years, rounded up to
  /// milliseconds.
  public var lifetime: Duration {
    get { .milliseconds(lifetimeMilliseconds) }
    set { lifetimeMilliseconds = Self.milliseconds(newValue) }
  }
  /// The same in milliseconds.
  package var lifetimeMilliseconds: Int64
  /// How long the session lasts at most from when the response arrived, if the response says so.
  ///
  /// Up to ten years; zero and less end the session at once. A later response that says it replaces it, `nil`
  /// keeps it, and a sign-in begins anew. If the policy has `ending.absoluteLifetime` too, the earlier end
  /// counts.
  ///
  /// - Requirement: POL-10
  public var sessionLifetime: Duration?
  /// The token's own name (`jti`), where it has one.
  public var tokenID: Identifier?
  /// Who the user is, where the answer says so.
  public var user: UserProfile?
  /// The context that the answer carries as an object.
  public var context: ActiveContext?
  /// The context that the access token claims; a hint, for where there is no object.
  ///
  /// - Requirement: STA-5
  public var tokenContext: ActiveContext?
  /// What the server's clock said (`Date`), in whole seconds.
  ///
  /// - Requirement: REF-8
  public var serverTime: Timestamp?
  /// In which way an identity provider signed in, where one did.
  var method: LoginMethod?
  /// Which source named the user, if that is known.
  package var origin: UserOrigin?
  /// The source that says that the response belongs to another user than the session's.
  package var namedBy: NamingSource?
  /// Where the refresh token lies that is kept, for tokens that are taken over.
  var refreshPlace: RefreshPlace?

  /// Whether the refresh token is the one that the caller logged in with: a login that fails does not revoke it.
  var isRefreshTokenOfCaller = false
  /// Whether an account was created and no user is signed in.
  package private(set) var isAccountOnly = false
  /// Whether the library has read it, so that it is not looked at again.
  package var isRead = false
  /// Where a sign-in's response should have a refresh token; `nil` if it has one, or none is expected.
  package var missingRefreshToken: String?
  /// Whether the sign-in fails for want of a refresh token.
  package var needsRefreshToken = false

  /// Tokens of a backend of your own.
  ///
  /// - Parameters:
  ///   - access: the access token.
  ///   - refresh: the refresh token; `nil` keeps the one that the session has.
  ///   - lifetime: how long the access token is valid from now; at least a millisecond.
  ///   - tokenID: the token's own identifier, which the journal holds; never the token itself.
  ///   - user: who the user is, with an id that is no e-mail address.
  ///   - context: the context that the user acts in.
  ///   - serverTime: what the server's clock showed when it answered.
  ///   - sessionLifetime: how long the session lasts at most from now; `nil` keeps what was said before.
  /// - Requirement: REF-5, STO-3
  public init(
    access: Secret, refresh: Secret? = nil, lifetime: Duration, tokenID: Identifier? = nil,
    user: UserProfile? = nil, context: ActiveContext? = nil, serverTime: Timestamp? = nil,
    sessionLifetime: Duration? = nil
  ) {
    self.init(
      access: access, refresh: refresh,
      lifetime: Self.milliseconds(lifetime), tokenID: tokenID,
      user: user,
      context: context, serverTime: serverTime)
    self.sessionLifetime = sessionLifetime
  }

  /// An account was created, and no user is signed in; for a registration, and for a custom credential.
  ///
  /// - Requirement: LOG-5, LOG-14
  public static let accountCreated: TokenResponse = {
    var response = TokenResponse(access: Secret(""), lifetime: .zero)
    response.isAccountOnly = true
    return response
  }()

  /// A response, with milliseconds.
  package init(
    access: Secret, refresh: Secret? = nil, lifetime: Int64, tokenID: Identifier? = nil,
    user: UserProfile? = nil, context: ActiveContext? = nil, tokenContext: ActiveContext? = nil,
    serverTime: Timestamp? = nil
  ) {
    self.access = access
    self.refresh = refresh
    self.lifetimeMilliseconds = max(1, lifetime)
    self.tokenID = tokenID
    self.user = user
    self.context = context
    self.tokenContext = tokenContext
    self.serverTime = serverTime
  }
}

extension TokenResponse {
  private static func milliseconds(_ lifetime: Duration) -> Int64 {
    min(max(1, lifetime.wholeMilliseconds), TokenMetadata.unknownLifetime)
  }
}

extension TokenResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// How long the token is good: `token for 3600000 ms`.
  public var description: String { "token for \(lifetimeMilliseconds) ms" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the lifetime only.
  public var customMirror: Mirror { Mirror(self, children: ["lifetime": lifetimeMilliseconds]) }
}
