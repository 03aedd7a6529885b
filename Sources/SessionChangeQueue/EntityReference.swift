@_spi(Internals) public import SessionCore

/// Which of the app's entities: one name on the device and at the server.
///
/// - Requirement: SYN-2
public struct EntityReference: Hashable, Sendable, CustomStringConvertible {
  /// What is synchronised apart from the rest, such as a school; empty where there is one scope.
  public let scope: String
  /// The kind of entity, such as `task`.
  public let type: String
  /// Which of them; made on the device where the entity was.
  public let id: Identifier

  /// A reference.
  public init(_ type: String, _ id: Identifier, scope: String = "") {
    self.scope = scope
    self.type = type
    self.id = id
  }

  /// As an identifier: what is spelled with other bytes is another one.
  public static func == (left: EntityReference, right: EntityReference) -> Bool {
    left.id == right.id && left.type.utf8.elementsEqual(right.type.utf8)
      && left.scope.utf8.elementsEqual(right.scope.utf8)
  }

  /// By the same bytes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(type.utf8.count)
    for byte in type.utf8 { hasher.combine(byte) }
    for byte in scope.utf8 { hasher.combine(byte) }
  }

  /// `task 17`, with its scope in front where it has one.
  public var description: String {
    (scope.isEmpty ? "" : scope + "/") + "\(type) \(id)"
  }
}
