/// What a user signs in with; shown without either part (STO-3).
public struct PasswordCredentials: Hashable, Sendable {
  /// The e-mail address or user name.
  public let userName: String
  /// The password.
  public let password: Secret

  /// Credentials.
  public init(userName: String, password: Secret) {
    self.userName = userName
    self.password = password
  }
}

extension PasswordCredentials: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// Always `<redacted>`: a user name may be an e-mail address.
  public var description: String { "<redacted>" }

  /// Always `<redacted>`.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
