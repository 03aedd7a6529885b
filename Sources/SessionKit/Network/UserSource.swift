@_spi(Internals) import SessionCore

/// Where a response says who the user is.
public enum UserSource: Hashable, Sendable {
  /// One of the tokens of a response.
  public enum Token: String, Hashable, Sendable {
    /// The access token.
    case access = "access token"
    /// The identity token of OpenID Connect.
    case identity = "identity token"
  }

  /// An object of the response, with the names of ``RequestFieldNames``; ``MemberPath/whole`` for its top level.
  case member(MemberPath)
  /// A claim with the identifier, of a token of three parts; the profile is from the same token's
  /// `email` or the first of `emails`, `given_name` and `family_name`.
  case claim(MemberPath, of: Token = .access)
  /// The keyed digest of a member, such as an e-mail address: for a backend that names its users by
  /// nothing else. It is the same at a sign-in and at a refresh.
  case digest(MemberPath, UserNameKey)
  /// The keyed digest of the user name of the sign-in: for a backend that names its users nowhere.
  case userName(UserNameKey)
}

/// Which source named a session's user, and what it said (LOG-12).
///
/// Stored with the user item: only the same source can say that a later response belongs to another
/// user. `value` may be an e-mail address or a user name, so that it is a secret.
struct UserOrigin: Codable, Hashable {
  /// The source, as ``UserSource/label(_:)`` or one of the names below.
  var source: String
  /// What it said.
  var value: String

  /// The app's own reader of responses (``HTTPBackend/read``).
  static let reader = "reader"
  /// The identity SDK.
  static let provider = "provider"
  /// The profile endpoint.
  static let profile = "profile"
}

extension UserOrigin: CustomStringConvertible, CustomReflectable {
  /// The source alone.
  var description: String { source }
  var customMirror: Mirror { Mirror(self, children: ["source": source]) }
}

/// Whose a response should be: the session's user, and which source named them, if that is known.
struct ExpectedUser: Hashable {
  var id: Identifier
  var origin: UserOrigin?
}

/// Whom a response names.
struct FoundUser: Hashable {
  var profile: UserProfile
  var origin: UserOrigin?
  /// The source that says that this is another user than the session's.
  var namedBy: NamingSource?

  /// Another user, of whom nothing is kept: the name may be an e-mail address.
  static func another(by source: NamingSource?) -> FoundUser {
    FoundUser(profile: UserProfile(id: "another user"), origin: nil, namedBy: source)
  }
}

extension UserSource {
  /// The name under which a session remembers the source.
  func label(_ keys: RequestFieldNames) -> String {
    switch self {
    case .member(let path): "member \(path) \(keys.userID)"
    case .claim(let path, let token): "claim \(path) of the \(token.rawValue)"
    case .digest(let path, _): "digest of \(path)"
    case .userName: "user name"
    }
  }

  /// What the journal says of it; `nil` if no response to a refresh has it.
  var naming: NamingSource? {
    switch self {
    case .member, .digest: .member
    case .claim(_, let token): token == .access ? .accessToken : .identityToken
    case .userName: nil
    }
  }

  var isClaim: Bool {
    if case .claim = self { true } else { false }
  }
}
