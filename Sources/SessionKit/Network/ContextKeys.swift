import SessionCore

/// How a backend names the members of a context object, and of the claim that repeats it.
public struct ContextKeys: Hashable, Sendable {
  /// The role's identifier, a text or a whole number as all identifiers; sent as a text.
  public var role = "role_id"
  /// The role's name.
  public var roleName = "role_name"
  /// The school's identifier.
  public var school = "school_id"
  /// The school's name.
  public var schoolName = "school_name"
  /// The unit's identifier.
  public var unit = "academic_unit_id"
  /// The unit's name.
  public var unitName = "academic_unit_name"
  /// The permissions, an array of texts.
  public var permissions = "permissions"
  /// The claim of an access token that holds such an object.
  public var claim = "active_context"

  /// The names of EDU.
  public init() {}

  /// The same in camel case: `roleId`, `schoolName`.
  public static var camelCase: ContextKeys {
    var keys = ContextKeys()
    (keys.role, keys.roleName) = ("roleId", "roleName")
    (keys.school, keys.schoolName) = ("schoolId", "schoolName")
    (keys.unit, keys.unitName) = ("academicUnitId", "academicUnitName")
    keys.claim = "activeContext"
    return keys
  }

  /// The context that an object is; the role is required, the rest is not.
  func read(_ members: JSONMembers) throws(Unreadable) -> ActiveContext {
    guard let role = try named(members, role, roleName) else {
      throw members.missing(MemberPath(steps: [self.role]))
    }
    return ActiveContext(
      role: role, school: try named(members, school, schoolName),
      unit: try named(members, unit, unitName),
      permissions: try members.strings(MemberPath(steps: [permissions])))
  }

  private func named(
    _ members: JSONMembers, _ id: String, _ name: String
  ) throws(Unreadable) -> ActiveContext.Named? {
    guard let identifier = try members.identifier(MemberPath(steps: [id])) else { return nil }
    return ActiveContext.Named(
      id: identifier, name: try members.string(MemberPath(steps: [name])) ?? "")
  }
}
