/// Somebody who may sign in at the loopback server; printing or dumping one shows the id only.
public struct LoopbackUser: Sendable, Equatable {
  /// Whether a sign-in with the right password is let through.
  public enum Standing: Sendable, Equatable {
    /// May sign in.
    case active
    /// Is answered 403 `USER_INACTIVE`.
    case inactive
    /// Is answered 423 `USER_LOCKED`.
    case locked
  }

  /// A canonical UUID.
  public var id: String
  /// What the user signs in with; compared as it is written.
  public var email: String
  /// The password, in the clear: this is a test's user.
  public var password: String
  /// The given name.
  public var firstName: String
  /// The family name.
  public var lastName: String
  /// Whether a sign-in is let through.
  public var standing: Standing
  /// Where the user may act; a sign-in opens the first, and without any the context is `null`.
  public var contexts: [LoopbackContext]

  /// Makes a user.
  public init(
    id: String, email: String, password: String, firstName: String, lastName: String,
    standing: Standing = .active, contexts: [LoopbackContext]
  ) {
    self.id = id
    self.email = email
    self.password = password
    self.firstName = firstName
    self.lastName = lastName
    self.standing = standing
    self.contexts = contexts
  }

  /// A user with two contexts, for examples and for tests that need just anybody.
  public static let sample = LoopbackUser(
    id: "0b9f6f0e-1d5a-4c39-9d4e-6a1f3c2b7a10", email: "maria.sample@school.test",
    password: "correct-horse-9", firstName: "María", lastName: "Sample",
    contexts: [.teacher, .coordinator])

  var wire: WireValue {
    [
      "id": .string(id), "email": .string(email), "first_name": .string(firstName),
      "last_name": .string(lastName),
    ]
  }
}

extension LoopbackUser: CustomStringConvertible, CustomReflectable {
  /// The id and the standing, nothing that is secret.
  public var description: String { "user \(id) (\(standing), \(contexts.count) contexts)" }

  /// What a dump shows: the description.
  public var customMirror: Mirror { Mirror(self, children: ["user": description]) }
}
