import SessionCore

/// What a user logs in with, or creates an account with; shown without any of it.
///
/// A backend of your own switches over it, and throws ``BackendError/unsupported(_:)`` for a case that it does not
/// offer.
///
/// - Requirement: LOG-5, STO-3
public enum Credential: Hashable, Sendable {
  /// An e-mail address or user name, and a password.
  case password(userName: String, password: Secret)
  /// The token of another service, by the backend's name for that service, such as `google`.
  case provider(_ name: String, token: Secret)
  /// A new account: what the user will log in with, and further fields by the backend's names.
  case registration(userName: String, password: Secret, fields: [String: RequestField])
  /// A refresh token alone, such as one that another device or an administrator has handed over.
  ///
  /// It is sent once, as the backend's refresh request. The server may have spent it if the response is lost. A
  /// login that fails after the response does not revoke it: it is still the caller's.
  ///
  /// - Requirement: LOG-15
  case refreshToken(Secret)
  /// What only a backend of your own understands, such as a one-time code or the response of a passkey.
  case custom(type: String, fields: [String: Secret])

  /// An e-mail address or user name, and a password.
  public static func password(_ userName: String, _ password: String) -> Credential {
    .password(userName: userName, password: Secret(password))
  }

  /// A new account: an e-mail address or user name, a password, and further fields by the backend's names.
  public static func registration(
    _ userName: String, _ password: String, fields: [String: RequestField] = [:]
  ) -> Credential {
    .registration(userName: userName, password: Secret(password), fields: fields)
  }

  /// What only a backend of your own understands: its type, and the values by their names.
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

  /// How the `login` event names this way.
  var method: LoginMethod {
    switch self {
    case .password: .password
    case .provider: .social
    case .registration: .registration
    case .refreshToken: .refreshToken
    case .custom: .custom
    }
  }

  /// Which request its response is checked as.
  var step: TokenStep {
    switch self {
    case .password, .refreshToken, .custom: .login
    case .provider: .social
    case .registration: .register
    }
  }

  /// Whether a backend may answer that an account was created and no user is signed in.
  var mayCreateAccount: Bool {
    switch self {
    case .registration, .custom: true
    case .password, .provider, .refreshToken: false
    }
  }
}
