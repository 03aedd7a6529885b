@_spi(Internals) public import SessionCore

/// One action of the user that the server does not know yet.
///
/// A sender switches over it:
/// ```swift
/// switch change {
/// case .create(let edit): await post(edit.entity, edit.content, key: edit.key)
/// case .update(let edit): await put(edit.entity, edit.content, key: edit.key)
/// case .delete(let deletion): await delete(deletion.entity, key: deletion.key)
/// case .request(let request): await send(request)
/// }
/// ```
/// Contents and bodies are the app's bytes. They are stored unchanged and never interpreted, and no
/// description shows them.
///
/// - Requirement: SYN-2, SYN-3
public enum Change: Hashable, Sendable {
  /// Creates an entity that does not exist at the server, or that an earlier change deletes.
  case create(Edit)
  /// Replaces the entity's whole content.
  case update(Edit)
  /// Deletes the entity.
  case delete(Deletion)
  /// Sends a request unchanged.
  case request(Request)

  /// An entity's whole content.
  ///
  /// It may be coalesced with a later change of the same entity (`Specs/ChangeLog.md`).
  public struct Edit: Hashable, Sendable {
    /// The entity.
    public let entity: EntityReference
    /// The entity's whole new content.
    public let content: [UInt8]
    /// Other entities that must exist for the server to accept the content.
    public let mentions: [EntityReference]
    /// The idempotency key, by which the server recognizes a repeated change.
    public let key: Identifier

    /// Creates an edit.
    ///
    /// `key` is a random UUID that the caller made.
    public init(
      _ entity: EntityReference, content: [UInt8], mentions: [EntityReference] = [],
      key: Identifier
    ) {
      self.entity = entity
      self.content = content
      self.mentions = mentions
      self.key = key
    }
  }

  /// The deletion of an entity.
  ///
  /// It may be coalesced with an earlier change of the same entity.
  public struct Deletion: Hashable, Sendable {
    /// The entity.
    public let entity: EntityReference
    /// The idempotency key, by which the server recognizes a repeated change.
    public let key: Identifier

    /// Creates a deletion.
    ///
    /// `key` is a random UUID that the caller made.
    public init(_ entity: EntityReference, key: Identifier) {
      self.entity = entity
      self.key = key
    }
  }

  /// A request to send later.
  ///
  /// It is never coalesced with another change.
  ///
  /// It has no headers. The access token is added when it is sent, and is not stored.
  ///
  /// - Requirement: SYN-3
  public struct Request: Hashable, Sendable {
    /// The method, such as `POST`.
    public let method: String
    /// The path and query relative to the app's base address.
    ///
    /// It must not contain a secret.
    public let path: String
    /// The media type of the body.
    public let contentType: String?
    /// The body.
    public let body: [UInt8]
    /// The idempotency key, by which the server recognizes a repeated change.
    public let key: Identifier

    /// Creates a request.
    ///
    /// `key` is a random UUID that the caller made. The result is `nil` in three cases:
    /// - The method does not consist of 1 to 16 letters.
    /// - The path does not begin with exactly one `/`, contains anything but visible ASCII, or is
    ///   longer than 8,192 characters.
    /// - The media type contains anything but visible ASCII and spaces, or is longer than 1,024
    ///   characters.
    public init?(
      _ method: String, _ path: String, contentType: String? = nil, body: [UInt8] = [],
      key: Identifier
    ) {
      guard (1...16).contains(method.utf8.count), method.utf8.allSatisfy(\.isLetter),
        path.utf8.first == UInt8(ascii: "/"), path.utf8.dropFirst().first != UInt8(ascii: "/"),
        path.utf8.count <= 8_192, path.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
      else { return nil }
      // The media type becomes a header field.
      if let contentType {
        guard contentType.utf8.count <= 1_024,
          contentType.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
      }
      self.method = method
      self.path = path
      self.contentType = contentType
      self.body = body
      self.key = key
    }
  }

  /// The idempotency key, by which the server recognizes a repeated change.
  public var key: Identifier {
    switch self {
    case .create(let edit), .update(let edit): edit.key
    case .delete(let deletion): deletion.key
    case .request(let request): request.key
    }
  }

  /// The entity; `nil` for a request.
  public var entity: EntityReference? {
    switch self {
    case .create(let edit), .update(let edit): edit.entity
    case .delete(let deletion): deletion.entity
    case .request: nil
    }
  }

  /// The size of the app's content or body, in bytes.
  public var contentSize: Int {
    switch self {
    case .create(let edit), .update(let edit): edit.content.count
    case .delete: 0
    case .request(let request): request.body.count
    }
  }

  /// The size that counts towards a log's limit, in bytes: all texts and contents.
  public var size: Int {
    switch self {
    case .create(let edit), .update(let edit):
      64 + key.byteCount + edit.content.count + edit.entity.size
        + edit.mentions.reduce(0) { $0 + $1.size }
    case .delete(let deletion): 64 + key.byteCount + deletion.entity.size
    case .request(let request):
      64 + key.byteCount + request.method.utf8.count + request.path.utf8.count
        + (request.contentType?.utf8.count ?? 0) + request.body.count
    }
  }
}

@_spi(Internals) extension Change {
  /// The operation on an entity, as named in the change log's bytes and by the tools.
  public enum Operation: UInt8, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    case create = 0
    case update = 1
    case delete = 2

    /// The name: `create`, `update` or `delete`.
    public var description: String {
      switch self {
      case .create: "create"
      case .update: "update"
      case .delete: "delete"
      }
    }
  }

  /// Creates an operation on an entity.
  ///
  /// A deletion has no content and no mentions.
  public init(
    _ operation: Operation, _ entity: EntityReference, content: [UInt8] = [],
    mentions: [EntityReference] = [], key: Identifier
  ) {
    switch operation {
    case .create:
      self = .create(Edit(entity, content: content, mentions: mentions, key: key))
    case .update:
      self = .update(Edit(entity, content: content, mentions: mentions, key: key))
    case .delete: self = .delete(Deletion(entity, key: key))
    }
  }

  /// The operation on an entity; `nil` for a request.
  public var operation: Operation? {
    switch self {
    case .create: .create
    case .update: .update
    case .delete: .delete
    case .request: nil
    }
  }

  /// The content of an edit; empty for any other change.
  public var content: [UInt8] {
    switch self {
    case .create(let edit), .update(let edit): edit.content
    case .delete, .request: []
    }
  }

  /// The entities that an edit mentions; empty for any other change.
  public var mentions: [EntityReference] {
    switch self {
    case .create(let edit), .update(let edit): edit.mentions
    case .delete, .request: []
    }
  }
}

extension Change: CustomStringConvertible, CustomReflectable {
  /// The change without its content, such as `update task 17, 120 bytes`.
  public var description: String {
    switch self {
    case .create(let edit): "create \(edit)"
    case .update(let edit): "update \(edit)"
    case .delete(let deletion): "delete \(deletion)"
    case .request(let request): request.description
    }
  }

  /// A mirror that shows the description only, so that no dump shows the user's content.
  public var customMirror: Mirror { Mirror(self, children: ["change": description]) }
}

extension Change.Edit: CustomStringConvertible, CustomReflectable {
  /// The entity and the size of the content, such as `task 17, 120 bytes`.
  public var description: String { "\(entity), \(content.count) bytes" }

  /// A mirror that shows the description only.
  public var customMirror: Mirror { Mirror(self, children: ["edit": description]) }
}

extension Change.Deletion: CustomStringConvertible {
  /// The entity, such as `task 17`.
  public var description: String { entity.description }
}

extension Change.Request: CustomStringConvertible, CustomReflectable {
  /// The request without its query and body, such as `POST /notes, 12 bytes`.
  public var description: String { "\(method) \(pathWithoutQuery), \(body.count) bytes" }

  /// A mirror that shows the description only.
  public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}

extension Change.Request {
  /// The path without the query, which may contain the user's input.
  public var pathWithoutQuery: String { String(path.prefix { $0 != "?" }) }
}

extension EntityReference {
  fileprivate var size: Int { 64 + scope.utf8.count + type.utf8.count + id.byteCount }
}

extension UInt8 {
  fileprivate var isLetter: Bool { (0x41...0x5A).contains(self & 0xDF) }
}

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
