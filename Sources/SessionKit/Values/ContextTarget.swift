@_spi(Internals) public import SessionCore

/// The role, school and unit to which a user wants to switch.
///
/// - Requirement: CTX-1
public struct ContextTarget: Hashable, Sendable {
  /// The role.
  public let role: Identifier
  /// The school or organisation, if there is one.
  public let school: Identifier?
  /// The academic unit or team within it, if there is one.
  public let unit: Identifier?

  /// Creates a target.
  public init(role: Identifier, school: Identifier? = nil, unit: Identifier? = nil) {
    self.role = role
    self.school = school
    self.unit = unit
  }
}
