/// What a credential must look like before it is worth a request.
///
/// - Requirement: LOG-1
public enum CredentialRules: Hashable, Sendable {
  /// Not empty; everything else is for the server to judge.
  case none
  /// A user name that has `@` and `.`, and a password of at least so many characters.
  case emailAndPassword(minimumLength: Int)

  /// What is wrong with a credential.
  public enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no user name.
    case emptyUserName
    /// It should be an e-mail address and lacks `@` or `.`.
    case notAnEmail
    /// There is no password.
    case emptyPassword
    /// The password has fewer characters than the rules ask for.
    case passwordTooShort(minimumLength: Int)
    /// The other service, or its token, is missing.
    case emptyProviderToken

    /// A sentence that never holds the credential.
    public var description: String {
      switch self {
      case .emptyUserName: "the user name is empty"
      case .notAnEmail: "the user name is not an e-mail address: it needs an @ and a dot"
      case .emptyPassword: "the password is empty"
      case .passwordTooShort(let minimum): "the password has fewer than \(minimum) characters"
      case .emptyProviderToken: "the other service or its token is missing"
      }
    }
  }

  /// The first thing that is wrong, or `nil`.
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
