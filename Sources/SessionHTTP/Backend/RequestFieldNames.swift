/// The names of a request's members.
///
/// The defaults are those of ``HTTPBackend/snakeCaseJSON(_:)``.
///
/// In a body of JSON, a name with a dot is a nested member: `user.email` is sent as
/// `{"user":{"email":…}}`. Write a dot that is part of a name as `\.`. A form has no nested
/// members, so the dot stays in the name. The same applies to ``HTTPEndpoint/fields`` and the
/// places of tokens.
public struct RequestFieldNames: Hashable, Sendable {
  /// The user name of a login.
  public var userName = "email"
  /// The password of a login.
  public var password = "password"
  /// The name of the other service, for a login with its token.
  public var provider = "provider"
  /// The other service's token.
  public var providerToken = "token"

  /// Creates the names `email`, `password`, `provider` and `token`.
  public init() {}
}
