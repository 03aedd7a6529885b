public import SessionCore

/// What a server gave: a token, and what came with it; shown without any of it.
public struct TokenAnswer: Hashable, Sendable {
  /// The access token.
  public var access: Secret
  /// The refresh token; `nil` keeps the one there is (REF-5).
  public var refresh: Secret?
  /// How long the access token is good from when the answer arrived, in milliseconds; at least 1.
  public var lifetime: Int64
  /// The token's own name (`jti`), where it has one.
  public var tokenID: Identifier?
  /// Who the user is, where the answer says so.
  public var user: UserProfile?
  /// The context that the answer carries as an object.
  public var context: ActiveContext?
  /// The context that the access token claims; a hint, for where there is no object (STA-5).
  public var tokenContext: ActiveContext?
  /// What the server's clock said (`Date`), in whole seconds (REF-8).
  public var serverTime: Timestamp?
  /// In which way an identity provider signed in, where one did.
  var method: LoginMethod?
  /// Which source named the user, if that is known.
  var origin: UserOrigin?
  /// The source that says that the response belongs to another user than the session's.
  var namedBy: NamingSource?
  /// Where the refresh token lies that is kept, for tokens that are taken over.
  var refreshPlace: RefreshPlace?

  /// An answer.
  public init(
    access: Secret, refresh: Secret? = nil, lifetime: Int64, tokenID: Identifier? = nil,
    user: UserProfile? = nil, context: ActiveContext? = nil, tokenContext: ActiveContext? = nil,
    serverTime: Timestamp? = nil
  ) {
    self.access = access
    self.refresh = refresh
    self.lifetime = max(1, lifetime)
    self.tokenID = tokenID
    self.user = user
    self.context = context
    self.tokenContext = tokenContext
    self.serverTime = serverTime
  }
}

extension TokenAnswer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// How long the token is good: `token for 3600000 ms`.
  public var description: String { "token for \(lifetime) ms" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the lifetime only.
  public var customMirror: Mirror { Mirror(self, children: ["lifetime": lifetime]) }
}
