/// How a backend names what a request asks with; the defaults are those of ``HTTPBackend/snakeCaseJSON(_:)``.
///
/// In a body of JSON, a name with a dot is a member of a member: `user.email` is sent as
/// `{"user":{"email":…}}`; a dot that is part of a name is written `\.`. A form knows no such members, and
/// has the dot in the name. So it is with ``HTTPEndpoint/fields`` and the places of tokens, too.
public struct RequestFieldNames: Hashable, Sendable {
  /// The user name of a login.
  public var userName = "email"
  /// The password of a login.
  public var password = "password"
  /// The name of the other service, of a login with its token.
  public var provider = "provider"
  /// The other service's token.
  public var providerToken = "token"

  /// The names `email`, `password`, `provider` and `token`.
  public init() {}
}
