@_spi(Internals) import SessionCore

/// Maps members of a backend's responses to values.
///
/// Of several paths, the first that is present counts.
public struct ResponseMapping: Hashable, Sendable {
  /// The object that contains the response, such as `data`.
  ///
  /// All other paths are relative to it.
  public var envelope = MemberPath.whole
  /// The access token.
  public var accessToken: MemberPaths = "access_token"
  /// The refresh token.
  ///
  /// Without one in the response, the old one is kept.
  ///
  /// - Requirement: REF-5
  public var refreshToken: MemberPaths = "refresh_token"
  /// The identity token of OpenID Connect.
  ///
  /// Its claims are read, and it is not kept.
  public var identityToken: MemberPaths = "id_token"
  /// The type of the token, if the response states it.
  public var tokenType: MemberPaths = "token_type"
  /// The accepted types.
  ///
  /// The comparison ignores case (RFC 6749 §5.1).
  public var tokenTypes: Set<String> = ["bearer"]
  /// The lifetime of the access token.
  public var lifetime: [TokenLifetime] = [.seconds("expires_in")]
  /// The maximum duration of the session, independent of refreshes; empty if the backend does not
  /// state it.
  ///
  /// A number must be above 0. An instant or a claim in the past ends the session at once. More
  /// than ten years count as ten years. A later response with another time replaces it, and one
  /// without a time keeps it.
  ///
  /// ``TokenLifetime/assumed(_:)`` has no effect here. The policy's `ending.absoluteLifetime` sets
  /// a duration of its own, and the earlier end counts.
  ///
  /// - Requirement: POL-10
  public var sessionLifetime: [TokenLifetime] = []
  /// How long the server keeps the refresh token; the first path with a number of seconds above 0
  /// counts.
  ///
  /// The session refreshes before that while the app runs, and `why` can prove that it was unused for
  /// longer. 0 says nothing: Keycloak sends it for offline tokens, which may end all the same. Sources:
  /// draft-ietf-oauth-refresh-token-expiration, and servers of which the names are known.
  ///
  /// - Requirement: REF-16
  public var refreshTokenLifetime: MemberPaths = [
    "refresh_token_timeout", "refresh_token_expires_in", "refresh_expires_in",
  ]
  /// Whether the device's clock measures an instant if the response has no `Date` and the token no
  /// `iat`.
  ///
  /// By default such a login fails. If the device's clock is wrong, the token seems to end too early
  /// or too late. The journal marks each such token (`deviceClockUsed`).
  ///
  /// - Requirement: REF-8
  public var usesDeviceClock = false
  /// Whether a time without a zone is UTC, as guillotina 7.1.5 sends it.
  ///
  /// By default a response with such a time fails, since the time may be that of any zone.
  public var assumesUTC = false
  /// The sources that name the user.
  ///
  /// At a sign-in the first source that names one counts, and the session remembers it. Later, only
  /// the same source can prove that a response belongs to another user.
  public var user: [UserSource] = [.member("user")]
  /// The user's identifier within the user object: a text or a whole number.
  public var userID: MemberPath = "id"
  /// The user's e-mail address within the user object.
  public var email: MemberPath = "email"
  /// The user's given name within the user object.
  public var firstName: MemberPath = "first_name"
  /// The user's family name within the user object.
  public var lastName: MemberPath = "last_name"
  /// Further members of the user object that the profile keeps, such as `full_name`.
  ///
  /// They are texts, whole numbers and booleans.
  ///
  /// They are stored in the user item, never in the journal.
  public var furtherMembers: [MemberPath] = []
  /// The context object in the responses to a login and to a refresh.
  public var context: MemberPaths = "active_context"
  /// The user's role, for a backend without a context object.
  ///
  /// It names a role without a school and permissions.
  ///
  /// It becomes the active context, as if an object had named only the role.
  ///
  /// - Requirement: STA-5
  public var role: MemberPaths = []
  /// The context object in the response to a switch.
  public var switchedContext: MemberPaths = "context"
  /// The user object in the response of the profile endpoint.
  public var profile: MemberPaths = ["user", .whole]
  /// The member of a profile with the status of the account.
  ///
  /// A boolean counts as the text `true` or `false`.
  ///
  /// - Requirement: LOG-6
  public var accountStatus: MemberPaths = "status"
  /// The values that mean an inactive user.
  ///
  /// The comparison ignores case.
  public var inactive: Set<String> = ["inactive"]
  /// The values that mean a deleted user.
  ///
  /// The comparison ignores case.
  public var deleted: Set<String> = ["deleted"]

  /// The member of a profile with the time of the last change of the status.
  ///
  /// It is RFC 3339, or a number since 1970: in seconds or, from 10¹¹ on, in milliseconds.
  ///
  /// - Requirement: LOG-6, SYN-4
  public var statusChangedAt: MemberPaths = ["lastStatusChangedAt", "last_status_changed_at"]
  /// The code of an error: a text or a whole number.
  ///
  /// The first path that is present counts.
  public var errorCode: MemberPaths = ["error.code", "error"]
  /// The header field with the code of an error.
  ///
  /// If this is `nil`, or a response does not have the field, ``errorCode`` counts.
  public var errorCodeHeader: String?

  /// Creates a mapping with the names of OAuth 2.0, and with those of
  /// ``HTTPBackend/snakeCaseJSON(_:)`` for the rest.
  public init() {}

  /// The mapping without changes, whose paths are made once.
  static let standard = ResponseMapping()

  /// The mapping in camel case: `accessToken`, `refreshToken`, and `expiresIn` or else the token's
  /// `exp`.
  public static var camelCase: ResponseMapping {
    var response = ResponseMapping()
    response.accessToken = "accessToken"
    response.refreshToken = "refreshToken"
    response.identityToken = "idToken"
    response.tokenType = "tokenType"
    response.lifetime = [.seconds("expiresIn"), .claim("exp")]
    response.context = "activeContext"
    (response.firstName, response.lastName) = ("firstName", "lastName")
    return response
  }
}

/// A source of an access token's lifetime.
///
/// An instant is measured from the response's own `Date`, and never by the device's clock unless
/// ``ResponseMapping/usesDeviceClock`` is set.
public enum TokenLifetime: Hashable, Sendable {
  /// A member with a number of seconds, as a number or a text.
  case seconds(MemberPath)
  /// A member with a number of milliseconds, as a number or a text.
  case milliseconds(MemberPath)
  /// A member with the instant of expiry.
  ///
  /// It is RFC 3339, or a number since 1970: in seconds or, from 100,000,000,000 on, in
  /// milliseconds. The number may be a text.
  case instant(MemberPath)
  /// A claim of the access token with the instant of expiry in seconds since 1970, such as `exp`.
  case claim(String)
  /// A default lifetime, from 1 ms to ten years.
  ///
  /// No member is read.
  case assumed(Duration)

  /// No lifetime is stated.
  ///
  /// The token is valid until a call gets the status 401.
  ///
  /// Without a refresh token, the policy decides what follows (`ending.onRefusedToken`).
  ///
  /// - Requirement: POL-7
  public static let unstated = TokenLifetime.assumed(.milliseconds(TokenMetadata.unknownLifetime))
}
