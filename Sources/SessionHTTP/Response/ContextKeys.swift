@_spi(Internals) import SessionCore
import SessionKit

/// The names of a context object's members, and of the claim that repeats the object.
///
/// They are paths within the object: `role.id` is the member `id` of its member `role`. They apply
/// to responses and to requests to switch.
public struct ContextKeys: Hashable, Sendable {
  /// The role's identifier: a text or a whole number, like all identifiers.
  ///
  /// It is sent as a text.
  public var role: MemberPath = "role_id"
  /// The role's name.
  public var roleName: MemberPath = "role_name"
  /// The school's identifier.
  public var school: MemberPath = "school_id"
  /// The school's name.
  public var schoolName: MemberPath = "school_name"
  /// The unit's identifier.
  public var unit: MemberPath = "academic_unit_id"
  /// The unit's name.
  public var unitName: MemberPath = "academic_unit_name"
  /// The permissions, an array of texts.
  public var permissions: MemberPath = "permissions"
  /// The claim of an access token that contains such an object.
  public var claim: MemberPath = "active_context"

  /// Creates names in snake case: `role_id`, `school_name`.
  public init() {}

  /// The names in snake case, whose paths are made once.
  static let standard = ContextKeys()

  /// The names in camel case: `roleId`, `schoolName`.
  public static var camelCase: ContextKeys {
    var keys = ContextKeys()
    (keys.role, keys.roleName) = ("roleId", "roleName")
    (keys.school, keys.schoolName) = ("schoolId", "schoolName")
    (keys.unit, keys.unitName) = ("academicUnitId", "academicUnitName")
    keys.claim = "activeContext"
    return keys
  }

  /// Returns the context that an object describes.
  ///
  /// The role is required, other members are not.
  func read(_ members: JSONMembers) throws(Unreadable) -> ActiveContext {
    guard let role = try named(members, role, roleName) else {
      throw members.missing(self.role)
    }
    return ActiveContext(
      role: role, school: try named(members, school, schoolName),
      unit: try named(members, unit, unitName),
      permissions: try members.strings(permissions))
  }

  private func named(
    _ members: JSONMembers, _ id: MemberPath, _ name: MemberPath
  ) throws(Unreadable) -> ActiveContext.Named? {
    guard let identifier = try members.identifier(id) else { return nil }
    return ActiveContext.Named(
      id: identifier, name: try members.string(name) ?? "")
  }
}
