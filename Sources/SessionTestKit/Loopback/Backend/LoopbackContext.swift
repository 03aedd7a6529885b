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
}
