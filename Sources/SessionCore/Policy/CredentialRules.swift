/// What a credential must look like before it is sent to the server.
///
/// - Requirement: LOG-1
public enum CredentialRules: Hashable, Sendable {
  /// User name and password must not be empty; the server judges everything else.
  case none
  /// A user name that contains `@` and `.`, and a password of at least `minimumLength` characters.
  case emailAndPassword(minimumLength: Int)

  /// What is wrong with a credential.
  public enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no user name.
    case emptyUserName
    /// The user name should be an e-mail address, but lacks `@` or `.`.
    case notAnEmail
    /// There is no password.
    case emptyPassword
    /// The password has fewer characters than the rules require.
    case passwordTooShort(minimumLength: Int)
    /// The other service, or its token, is missing.
    case emptyProviderToken

    /// A sentence that never contains the credential.
    public var description: String {
      switch self {
      case .emptyUserName: "the user name is empty"
      case .notAnEmail: "the user name is not an e-mail address: it needs an @ and a dot"
      case .emptyPassword: "the password is empty"
      case .passwordTooShort(let minimum): "the password has fewer than \(minimum) characters"
      case .emptyProviderToken: "the identity provider or its token is missing"
      }
    }
  }

  /// Returns the first problem of the credential; `nil` if there is none.
  public func problem(userName: String, password: String) -> Problem? {
    if userName.allSatisfy(\.isWhitespace) { return .emptyUserName }
    if password.isEmpty { return .emptyPassword }
    switch self {
    case .none:
      return nil
    case .emailAndPassword(let minimum):
      guard userName.contains("@"), userName.contains(".") else { return .notAnEmail }
      return password.count < minimum ? .passwordTooShort(minimumLength: minimum) : nil
    }
  }
}
