/// Where the responses of a backend say what: of each list, the first that is there counts.
public struct ResponseMapping: Hashable, Sendable {
  /// The object that holds the response proper, such as `data`; all paths below start there.
  public var envelope = MemberPath.whole
  /// The access token.
  public var accessToken: [MemberPath] = ["access_token"]
  /// The refresh token; a response without one keeps the old.
  ///
  /// - Requirement: REF-5
  public var refreshToken: [MemberPath] = ["refresh_token"]
  /// The identity token of OpenID Connect, read for its claims and then forgotten.
  public var identityToken: [MemberPath] = ["id_token"]
  /// The kind of token, where it is said.
  public var tokenType: [MemberPath] = ["token_type"]
  /// The kinds that are accepted, in small letters; compared without regard to case.
  public var tokenTypes: Set<String> = ["bearer"]
  /// How long the access token is good.
  public var lifetime: [TokenLifetime] = [.seconds("expires_in")]
  /// How long the session lasts at most, however often it is refreshed; empty if the backend does not say it.
  ///
  /// A number must be above 0. An instant or a claim that has passed ends the session at once, and more than
  /// ten years count as ten years. ``TokenLifetime/assumed(_:)`` says nothing here: that is the policy's
  /// `ending.absoluteLifetime`, beside which the earlier end counts. A later response that says another time
  /// replaces it, and one without it keeps it.
  ///
  /// - Requirement: POL-10
  public var sessionLifetime: [TokenLifetime] = []
  /// Who the user is.
  ///
  /// At a sign-in the first that says it counts, and the session remembers it. Later
  /// only the same source can say that a response belongs to another user.
  public var user: [UserSource] = [.member("user")]
  /// The user's identifier, a text or a whole number, within the user object.
  public var userID: MemberPath = "id"
  /// The user's e-mail address, within it.
  public var email: MemberPath = "email"
  /// The user's given name, within it.
  public var firstName: MemberPath = "first_name"
  /// The user's family name, within it.
  public var lastName: MemberPath = "last_name"
  /// Further members of the user object that the profile keeps, such as `full_name`: texts, whole numbers
  /// and booleans.
  ///
  /// They are stored in the user item, never in the journal.
  public var furtherMembers: [MemberPath] = []
  /// The context object of a login and of a refresh.
  public var context: [MemberPath] = ["active_context"]
  /// The user's role, for a backend that has no context object: the name of a role without a place and
  /// without permissions.
  ///
  /// It becomes the active context, as if an object had named the role alone.
  ///
  /// - Requirement: STA-5
  public var role: [MemberPath] = []
  /// The context object of a switch.
  public var switchedContext: [MemberPath] = ["context"]
  /// Where the answer of the profile endpoint has the user object.
  public var profile: [MemberPath] = ["user", .whole]
  /// The member of a profile that says how the user stands; a boolean is the text
  /// `true` or `false`.
  ///
  /// - Requirement: LOG-6
  public var standing: [MemberPath] = ["status"]
  /// What it says of an inactive user; compared without regard to case.
  public var inactive: Set<String> = ["inactive"]
  /// What it says of a deleted user; compared without regard to case.
  public var deleted: Set<String> = ["deleted"]

  /// The member of a profile that says when that last changed: RFC 3339, or since 1970 in seconds or, from
  /// 10¹¹ on, in milliseconds.
  ///
  /// - Requirement: LOG-6, SYN-4
  public var statusChangedAt: [MemberPath] = ["lastStatusChangedAt", "last_status_changed_at"]
  /// The code of an error, a text or a whole number: the first of these that is there counts.
  public var errorCode: [MemberPath] = ["error.code", "error"]
  /// The header field with the code of an error; if a response has none, or this is `nil`, ``errorCode``
  /// counts.
  public var errorCodeHeader: String?

  /// The names of OAuth 2.0, and those of ``HTTPBackend/snakeCaseJSON(_:)`` for the rest.
  public init() {}

  /// The same in camel case: `accessToken`, `refreshToken`, `expiresIn` or else the token's `exp`.
  public static var camelCase: ResponseMapping {
    var response = ResponseMapping()
    response.accessToken = ["accessToken"]
    response.refreshToken = ["refreshToken"]
    response.identityToken = ["idToken"]
    response.tokenType = ["tokenType"]
    response.lifetime = [.seconds("expiresIn"), .claim("exp")]
    response.context = ["activeContext"]
    (response.firstName, response.lastName) = ("firstName", "lastName")
    return response
  }
}
