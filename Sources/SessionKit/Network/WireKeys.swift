/// How a backend names the members of its bodies; the defaults are EDU's.
public struct WireKeys: Hashable, Sendable {
  /// The user name of a login.
  public var userName = "email"
  /// The password of a login.
  public var password = "password"
  /// The access token of an answer.
  public var accessToken = "access_token"
  /// The refresh token, of a refresh and of an answer.
  public var refreshToken = "refresh_token"
  /// The refresh token that a revocation names.
  public var revokedToken = "refresh_token"
  /// How long the access token is good, in seconds.
  public var lifetime = "expires_in"
  /// The kind of token, which must be `Bearer` where it is said.
  public var tokenType = "token_type"
  /// The user object of an answer.
  public var user = "user"
  /// The user's identifier, within it.
  public var userID = "id"
  /// The user's e-mail address, within it.
  public var email = "email"
  /// The user's given name, within it.
  public var firstName = "first_name"
  /// The user's family name, within it.
  public var lastName = "last_name"
  /// The context object of a login and of a refresh.
  public var context = "active_context"
  /// The context object of a switch.
  public var switchedContext = "context"
  /// The members of a context object, which a switch asks for by the same names.
  public var contexts = ContextKeys()
  /// What an error is under: an object with a code, or the code itself as in OAuth.
  public var error = "error"
  /// The code within an error object.
  public var errorCode = "code"

  /// The names of EDU.
  public init() {}
}
