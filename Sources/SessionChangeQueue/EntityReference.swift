@_spi(Internals) public import SessionCore

/// Identifies one of the app's entities, with the same name on the device and at the server.
///
/// - Requirement: SYN-2
public struct EntityReference: Hashable, Sendable, CustomStringConvertible {
  /// The part that is synchronised separately, such as a school; empty if there is only one.
  public let scope: String
  /// The kind of entity, such as `task`.
  public let type: String
  /// The identifier of the entity.
  ///
  /// The device creates it if the entity was created there.
  public let id: Identifier

  /// Creates a reference.
  public init(_ type: String, _ id: Identifier, scope: String = "") {
    self.scope = scope
    self.type = type
    self.id = id
  }

  /// Returns whether both references have the same bytes.
  ///
  /// Canonically equivalent texts with other bytes differ.
  public static func == (left: EntityReference, right: EntityReference) -> Bool {
    left.id == right.id && left.type.utf8.elementsEqual(right.type.utf8)
      && left.scope.utf8.elementsEqual(right.scope.utf8)
  }

  /// Hashes the same bytes that `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(type.utf8.count)
    for byte in type.utf8 { hasher.combine(byte) }
    for byte in scope.utf8 { hasher.combine(byte) }
  }

  /// The type and identifier, such as `task 17`, after the scope if there is one.
  public var description: String {
    (scope.isEmpty ? "" : scope + "/") + "\(type) \(id)"
  }
}
