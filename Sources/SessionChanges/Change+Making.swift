public import Foundation
public import SessionChangeQueue
@_spi(Internals) import SessionCore

extension Change {
  /// A new entity.
  public static func create(
    _ entity: EntityReference, content: [UInt8], mentions: [EntityReference] = [],
    key: UUID = UUID()
  ) -> Change {
    Change(
      key: key.identifier, .entity(.init(.create, entity, content: content, mentions: mentions)))
  }

  /// An entity's new content, all of it.
  public static func update(
    _ entity: EntityReference, content: [UInt8], mentions: [EntityReference] = [],
    key: UUID = UUID()
  ) -> Change {
    Change(
      key: key.identifier, .entity(.init(.update, entity, content: content, mentions: mentions)))
  }

  /// An entity that goes.
  public static func delete(_ entity: EntityReference, key: UUID = UUID()) -> Change {
    Change(key: key.identifier, .entity(.init(.delete, entity)))
  }

  /// A request that waits (SYN-3).
  public static func request(_ request: Request, key: UUID = UUID()) -> Change {
    Change(key: key.identifier, .request(request))
  }
}

extension UUID {
  fileprivate var identifier: Identifier { Identifier(uuidString.lowercased()) }
}
