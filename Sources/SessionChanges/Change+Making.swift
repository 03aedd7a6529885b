public import Foundation
public import SessionChangeQueue
@_spi(Internals) import SessionCore

extension Change {
  /// Returns the creation of an entity with its content.
  public static func create(
    _ entity: EntityReference, content: [UInt8], mentions: [EntityReference] = [],
    key: UUID = UUID()
  ) -> Change {
    .create(Edit(entity, content: content, mentions: mentions, key: key.identifier))
  }

  /// Returns an update that replaces an entity's whole content.
  public static func update(
    _ entity: EntityReference, content: [UInt8], mentions: [EntityReference] = [],
    key: UUID = UUID()
  ) -> Change {
    .update(Edit(entity, content: content, mentions: mentions, key: key.identifier))
  }

  /// Returns the deletion of an entity.
  public static func delete(_ entity: EntityReference, key: UUID = UUID()) -> Change {
    .delete(Deletion(entity, key: key.identifier))
  }
}

extension Change.Request {
  /// Creates a request that waits; `nil` if the method, path or media type is not allowed.
  ///
  /// - Requirement: SYN-3
  public init?(
    _ method: String, _ path: String, contentType: String? = nil, body: [UInt8] = [],
    key: UUID = UUID()
  ) {
    self.init(method, path, contentType: contentType, body: body, key: key.identifier)
  }
}

extension UUID {
  fileprivate var identifier: Identifier { Identifier(uuidString.lowercased()) }
}
