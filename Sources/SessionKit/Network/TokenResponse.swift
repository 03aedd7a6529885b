@_spi(Internals) public import SessionCore

/// The tokens that a backend issued, with the data of the response.
///
/// Descriptions do not show them.
public struct TokenResponse: Hashable, Sendable {
  /// The access token.
  public var access: Secret
  /// The refresh token; `nil` keeps the current one.
  ///
  /// - Requirement: REF-5
  public var refresh: Secret?
  /// The time for which the access token is valid, measured from the arrival of the response.
  ///
  /// It is from 1 ms to ten years, rounded up to milliseconds. If the server states an instant,
  /// subtract the server's time (``serverTime``), not that of the device, whose clock may be wrong.
  public var lifetime: Duration {
    get { .milliseconds(lifetimeMilliseconds) }
    set { lifetimeMilliseconds = Self.milliseconds(newValue) }
  }
  /// The lifetime of the access token in milliseconds.
  package var lifetimeMilliseconds: Int64
  /// The maximum duration of the session, measured from the arrival of the response; `nil` if it is
  /// not stated.
  ///
  /// It is at most ten years. Zero and less end the session at once. A later response with a value
  /// replaces it, `nil` keeps it, and a login replaces or removes it. If the policy has
  /// `ending.absoluteLifetime` too, the earlier end counts.
  ///
  /// - Requirement: POL-10
  public var sessionLifetime: Duration?
  /// How long the server keeps the refresh token from now; `nil` if it does not say.
  ///
  /// The session refreshes before that while the app runs.
  ///
  /// - Requirement: REF-16
  public var refreshTokenLifetime: Duration?
  /// The token's own identifier (`jti`), if it has one.
  public var tokenID: Identifier?
  /// The user, if the response names one.
  public var user: UserProfile?
  /// The context that the response contains as an object.
  public var context: ActiveContext?
  /// The context that the access token claims.
  ///
  /// It is a hint that counts if there is no object.
  ///
  /// - Requirement: STA-5
  public var tokenContext: ActiveContext?
  /// The server's clock at the time of the response (`Date`), in whole seconds.
  ///
  /// - Requirement: REF-8
  public var serverTime: Timestamp?
  /// Whether the device's clock measured a lifetime, which is then wrong if the clock is.
  public var isMeasuredByDevice = false
  /// The thumbprint of the key to which the server bound the token; `nil` for a bearer token.
  package var boundKey: Identifier?
  /// How an identity provider signed the user in, if one did.
  var method: LoginMethod?
  /// The source that named the user, if that is known.
  package var origin: UserOrigin?
  /// The source that says that the response belongs to another user than the session's.
  package var namedBy: NamingSource?
  /// The `sub` of the identity token in the response.
  package var identitySubject: String?
  /// The identity token in the response, for a logout at the provider.
  package var identity: Secret?
  /// The check that the identity token in the response did not pass.
  package var identityProblem: IdentityTokenError?
  /// The journals whose session these tokens continue, for tokens that are taken over.
  var continues: [String] = []
  /// The place of the stored refresh token, for tokens that are taken over from another journal.
  var refreshPlace: RefreshPlace?

  /// Whether the refresh token is the one with which the caller logged in.
  ///
  /// A failed login does not revoke it.
  var isRefreshTokenOfCaller = false
  /// Whether an account was created and no user is signed in.
  package private(set) var isAccountOnly = false
  /// Whether the library has read the response, so that it is not checked again.
  package var isRead = false

  /// Creates the response of a backend of your own.
  ///
  /// - Parameters:
  ///   - access: the access token.
  ///   - refresh: the refresh token; `nil` keeps the one that the session has.
  ///   - lifetime: the time for which the access token is valid from now; at least a millisecond.
  ///   - tokenID: the token's own identifier, which the journal holds; never the token itself.
  ///   - user: the user, with an id that is no e-mail address.
  ///   - context: the context in which the user acts.
  ///   - serverTime: the server's clock at the time of the response.
  ///   - sessionLifetime: the maximum duration of the session from now; `nil` keeps the previous
  ///     one.
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

  /// The response that an account was created and no user is signed in.
  ///
  /// It is valid for a registration and for a custom credential.
  ///
  /// - Requirement: LOG-5, LOG-14
  public static let accountCreated: TokenResponse = {
    var response = TokenResponse(access: Secret(""), lifetime: .zero)
    response.isAccountOnly = true
    return response
  }()

  /// Creates a response with a lifetime in milliseconds.
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
  /// The lifetime of the token, such as `token for 3600000 ms`.
  public var description: String { "token for \(lifetimeMilliseconds) ms" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the lifetime only.
  public var customMirror: Mirror { Mirror(self, children: ["lifetime": lifetimeMilliseconds]) }
}

/// The place of a separate refresh token: an item of this journal, of this generation or a later
/// one.
struct RefreshPlace: Hashable, Sendable {
  var journal = ""
  var generation: UInt64 = 0
}

// A response that an app's own backend made is checked like a response of HTTP.
extension TokenResponse {
  /// Returns the response with its user and source.
  ///
  /// Throws if the response cannot be used.
  ///
  /// A response that the library has read is returned unchanged. `isSpent` says whether the request's
  /// token is consumed, so that the new one must be kept.
  func checked(isSpent: Bool, of expected: ExpectedUser?) throws(BackendError) -> TokenResponse {
    guard !isRead, !isAccountOnly else { return self }
    guard access.isToken, refresh?.isToken ?? true else {
      throw BackendError(
        .invalidResponse,
        message: "a token is empty or contains a character that no token may contain")
    }
    var found = self
    if tokenID?.isAddress == true { found.tokenID = nil }
    guard let user else { return found }
    let origin = UserOrigin(source: UserOrigin.reader, value: user.id.description)
    if let expected {
      let isDecisive = expected.origin?.source == origin.source
      if isDecisive, expected.origin != origin {
        found.take(.another(by: .reader))
      } else if isDecisive || user.id == expected.id {
        found.take(FoundUser(profile: user.renamed(expected.id), origin: origin))
      } else {
        found.user = nil
      }
      return found
    }
    if !user.id.isAddress {
      found.origin = origin
    } else if isSpent {
      found.user = nil
    } else {
      throw BackendError(
        .invalidResponse,
        message: "the user's id is \(Identifier.addressProblem); use another id for the user")
    }
    return found
  }
}
