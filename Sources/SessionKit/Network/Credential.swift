/// What a user signs in with, or creates an account with; shown without any of it (STO-3).
///
/// Later versions may have more kinds. A backend looks for those that it knows, and throws `unsupported` for
/// the others.
///
/// - Requirement: LOG-5
public struct Credential: Hashable, Sendable {
  private enum Kind: Hashable {
    case password(PasswordCredentials)
    case provider(SocialCredentials)
    case registration(NewAccount)
  }

  private let kind: Kind

  private init(_ kind: Kind) {
    self.kind = kind
  }

  /// An e-mail address or user name, and a password.
  public static func password(_ userName: String, _ password: String) -> Credential {
    Credential(PasswordCredentials(userName: userName, password: Secret(password)))
  }

  /// The token of another service, by the backend's name for that service.
  public static func provider(_ name: String, token: Secret) -> Credential {
    Credential(SocialCredentials(provider: name, token: token))
  }

  /// A new account.
  public static func registration(_ account: NewAccount) -> Credential {
    Credential(.registration(account))
  }

  init(_ credentials: PasswordCredentials) { self.init(.password(credentials)) }

  init(_ credentials: SocialCredentials) { self.init(.provider(credentials)) }

  /// The user name and the password; `nil` if it is of another kind.
  public var password: PasswordCredentials? {
    if case .password(let credentials) = kind { credentials } else { nil }
  }

  /// The token of another service; `nil` if it is of another kind.
  public var provider: SocialCredentials? {
    if case .provider(let credentials) = kind { credentials } else { nil }
  }

  /// The new account; `nil` if it is of another kind.
  public var registration: NewAccount? {
    if case .registration(let account) = kind { account } else { nil }
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
