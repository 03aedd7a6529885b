@_spi(Internals) public import SessionCore

/// The role, and where, that a user wants to act in next.
///
/// - Requirement: CTX-1
public struct ContextTarget: Hashable, Sendable {
  /// The role.
  public let role: Identifier
  /// The school or organisation, where there is one.
  public let school: Identifier?
  /// The academic unit or team within it, where there is one.
  public let unit: Identifier?

  /// A target.
  public init(role: Identifier, school: Identifier? = nil, unit: Identifier? = nil) {
    self.role = role
    self.school = school
    self.unit = unit
  }
}
