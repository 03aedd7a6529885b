/// What an account is created with (LOG-5); shown without any of it (STO-3).
public struct NewAccount: Hashable, Sendable {
  /// What the user will sign in with.
  public let credentials: PasswordCredentials
  /// The further members that the backend wants, by its names, such as `first_name`.
  public let fields: [String: RequestField]

  /// An account.
  public init(_ credentials: PasswordCredentials, fields: [String: RequestField] = [:]) {
    self.credentials = credentials
    self.fields = fields
  }
}

extension NewAccount: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Always `<redacted>`.
  public var description: String { "<redacted>" }

  /// Always `<redacted>`.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// What became of a registration (LOG-5).
public enum RegistrationOutcome: Hashable, Sendable {
  /// There is an account, and nobody is signed in: sign in with it.
  case accountCreated
  /// There is an account, and its user is signed in.
  case signedIn(UserProfile?)
}
