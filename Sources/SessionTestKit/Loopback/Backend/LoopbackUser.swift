import SessionJSON
public import SessionKit

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

/// A context in which a user may act: a role at a school, perhaps in one of its units.
///
/// - Requirement: STA-5
public struct LoopbackContext: Sendable, Equatable {
  /// The id of the role; with those of school and unit it identifies the context in a switch.
  public var roleID: String
  /// The display name of the role.
  public var roleName: String
  /// The id of the school.
  public var schoolID: String
  /// The display name of the school.
  public var schoolName: String
  /// The academic unit; `nil` for a context of the whole school.
  public var unit: Unit?
  /// The permissions of the role in this context, such as `materials:read`.
  public var permissions: [String]

  /// An academic unit of a school.
  public struct Unit: Sendable, Equatable {
    /// The id of the unit.
    public var id: String
    /// The display name of the unit.
    public var name: String

    /// Creates a unit.
    public init(id: String, name: String) {
      self.id = id
      self.name = name
    }
  }

  /// Creates a context.
  public init(
    roleID: String, roleName: String, schoolID: String, schoolName: String, unit: Unit? = nil,
    permissions: [String] = []
  ) {
    self.roleID = roleID
    self.roleName = roleName
    self.schoolID = schoolID
    self.schoolName = schoolName
    self.unit = unit
    self.permissions = permissions
  }

  /// A teacher in one unit of a school.
  public static let teacher = LoopbackContext(
    roleID: "2c5ea4c0-4067-4b1e-9a50-000000000001", roleName: "teacher",
    schoolID: "7d1f0a52-93c7-4a86-8d2b-000000000001", schoolName: "North School",
    unit: Unit(id: "b6a1d3c4-5e7f-4a0b-9c8d-000000000001", name: "5th grade, A"),
    permissions: ["materials:read", "materials:write"])

  /// A coordinator at another school, without a unit.
  public static let coordinator = LoopbackContext(
    roleID: "2c5ea4c0-4067-4b1e-9a50-000000000002", roleName: "coordinator",
    schoolID: "7d1f0a52-93c7-4a86-8d2b-000000000002", schoolName: "South School",
    permissions: ["materials:read", "reports:read"])

  var wire: WireValue {
    var members: [String: WireValue] = [
      "role_id": .string(roleID), "role_name": .string(roleName),
      "school_id": .string(schoolID), "school_name": .string(schoolName),
      "permissions": .array(permissions.map { .string($0) }),
    ]
    if let unit {
      members["academic_unit_id"] = .string(unit.id)
      members["academic_unit_name"] = .string(unit.name)
    }
    return .object(members)
  }

  /// Writes the same object.
  func write(to writer: inout JSONWriter) {
    writer.object { members in
      if let unit {
        members.field("academic_unit_id", unit.id)
        members.field("academic_unit_name", unit.name)
      }
      members.array("permissions", permissions) { $0.value($1) }
      members.field("role_id", roleID)
      members.field("role_name", roleName)
      members.field("school_id", schoolID)
      members.field("school_name", schoolName)
    }
  }
}

extension Credential {
  /// The credential of `LoopbackUser.sample`, a user of the loopback server and the simulated
  /// server.
  public static let sample = Credential.password(of: .sample)

  /// Returns the credential of a user of the loopback server or the simulated server.
  public static func password(of user: LoopbackUser) -> Credential {
    .password(user.email, user.password)
  }
}
