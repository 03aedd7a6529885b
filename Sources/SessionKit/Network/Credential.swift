import SessionCore
package import SessionJSON

/// The data with which a user logs in or creates an account.
///
/// Descriptions do not show it.
///
/// A backend of your own switches over it, and throws ``BackendError/unsupported(_:)`` for a case
/// that it does not offer.
///
/// - Requirement: LOG-5, STO-3
public enum Credential: Hashable, Sendable {
  /// An e-mail address or user name, and a password.
  case password(userName: String, password: Secret)
  /// A token of another service, with the backend's name of that service, such as `google`.
  case provider(_ name: String, token: Secret)
  /// A new account: a user name and password for later logins, and further fields by the backend's
  /// names.
  case registration(userName: String, password: Secret, fields: [String: RequestField])
  /// A refresh token alone, for example from another device or an administrator.
  ///
  /// It is sent once, as the backend's refresh request. If the response is lost, the server may
  /// have consumed the token. If the login fails after the response, the token is not revoked,
  /// since it belongs to the caller. A new one in the response is revoked.
  ///
  /// - Requirement: LOG-15
  case refreshToken(Secret)
  /// A credential that only a backend of your own understands, such as a one-time code or the
  /// response of a passkey.
  case custom(type: String, fields: [String: Secret])

  /// Returns a credential with an e-mail address or user name, and a password.
  public static func password(_ userName: String, _ password: String) -> Credential {
    .password(userName: userName, password: Secret(password))
  }

  /// Returns a credential for a new account.
  ///
  /// It has an e-mail address or user name, a password, and further fields by the backend's names.
  public static func registration(
    _ userName: String, _ password: String, fields: [String: RequestField] = [:]
  ) -> Credential {
    .registration(userName: userName, password: Secret(password), fields: fields)
  }

  /// Returns a credential that only a backend of your own understands, with its type and its values
  /// by name.
  public static func custom(_ type: String, _ fields: [String: String] = [:]) -> Credential {
    .custom(type: type, fields: fields.mapValues { Secret($0) })
  }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Always `<redacted>`.
  public var description: String { "<redacted>" }

  /// Always `<redacted>`.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Credential {
  /// The e-mail address or user name; `nil` if the credential has none.
  package var userName: String? {
    switch self {
    case .password(let userName, _), .registration(let userName, _, _): userName
    case .provider, .refreshToken, .custom: nil
    }
  }

  /// The method that the `login` event names.
  var method: LoginMethod {
    switch self {
    case .password: .password
    case .provider: .social
    case .registration: .registration
    case .refreshToken: .refreshToken
    case .custom: .custom
    }
  }

  /// Whether the response may say that an account was created and no user is signed in.
  var mayCreateAccount: Bool {
    switch self {
    case .registration, .custom: true
    case .password, .provider, .refreshToken: false
    }
  }
}

/// A member of a request's body with a constant value, such as `grant_type`.
///
/// Descriptions show only its type.
public enum RequestField: Hashable, Sendable {
  /// A text.
  case text(String)
  /// A number.
  ///
  /// A whole number is written without a fraction, and one that is not finite as `null`.
  case number(Double)
  /// A truth value.
  case bool(Bool)

  /// The value as JSON.
  package var json: JSONValue {
    switch self {
    case .text(let text): .string(text)
    case .number(let number): number.isFinite ? .number(JSONNumber(checked: form)) : .null
    case .bool(let flag): .bool(flag)
    }
  }

  /// The value as text of a form, before it is encoded.
  package var form: String {
    switch self {
    case .text(let text): text
    case .number(let number):
      Int64(exactly: number).map(String.init) ?? (number.isFinite ? "\(number)" : "null")
    case .bool(let flag): flag ? "true" : "false"
    }
  }
}

extension RequestField: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
  /// Creates a text.
  public init(stringLiteral text: String) { self = .text(text) }

  /// Creates a whole number.
  public init(integerLiteral number: Int) { self = .number(Double(number)) }

  /// Creates a number.
  public init(floatLiteral number: Double) { self = .number(number) }

  /// Creates a truth value.
  public init(booleanLiteral flag: Bool) { self = .bool(flag) }
}

extension RequestField: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The type without the value, since apps keep keys in such fields.
  public var description: String {
    switch self {
    case .text: "a text"
    case .number: "a number"
    case .bool: "a boolean"
    }
  }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the type only.
  public var customMirror: Mirror { Mirror(self, children: ["field": description]) }
}
