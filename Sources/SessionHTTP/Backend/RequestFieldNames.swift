/// How a backend names what a request asks with, and the members of a user; the defaults are EDU's.
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
  /// The members of a context object, which a switch asks for by the same names.
  public var contexts = ContextKeys()
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
  /// The code of an error, a text or a whole number: the first of these that is there counts.
  public var errorCode: [MemberPath] = ["error.code", "error"]
  /// The header field with the code of an error; if a response has none, or this is `nil`, ``errorCode``
  /// counts.
  public var errorCodeHeader: String?

  /// The names of EDU.
  public init() {}

  /// The same in camel case: `firstName`, `roleId`.
  public static var camelCase: RequestFieldNames {
    var keys = RequestFieldNames()
    keys.contexts = .camelCase
    keys.firstName = "firstName"
    keys.lastName = "lastName"
    return keys
  }
}
