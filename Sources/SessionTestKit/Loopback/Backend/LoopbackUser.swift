/// A user who may log in at the loopback server; a print or dump of one shows only the id.
public struct LoopbackUser: Sendable, Equatable {
  /// Whether the user may log in with the right password.
  public enum Status: Sendable, Equatable {
    /// The user may log in.
    case active
    /// A login is answered with 403 `USER_INACTIVE`.
    case inactive
    /// A login is answered with 423 `USER_LOCKED`.
    case locked
  }

  /// The user's id, a canonical UUID.
  public var id: String
  /// The e-mail address to log in with; compared exactly, including case.
  public var email: String
  /// The password, in plain text, since the user exists only in tests.
  public var password: String
  /// The given name.
  public var firstName: String
  /// The family name.
  public var lastName: String
  /// Whether the user may log in.
  public var status: Status
  /// The contexts in which the user may act.
  ///
  /// A login activates the first. If there are none, the context is `null`.
  public var contexts: [LoopbackContext]

  /// Creates a user.
  public init(
    id: String, email: String, password: String, firstName: String, lastName: String,
    status: Status = .active, contexts: [LoopbackContext]
  ) {
    self.id = id
    self.email = email
    self.password = password
    self.firstName = firstName
    self.lastName = lastName
    self.status = status
    self.contexts = contexts
  }

  /// A user with two contexts, for examples and for tests that need any user.
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
  /// The id, the status and the number of contexts; no secret.
  public var description: String { "user \(id) (\(status), \(contexts.count) contexts)" }

  /// A mirror that shows only the description.
  public var customMirror: Mirror { Mirror(self, children: ["user": description]) }
}
