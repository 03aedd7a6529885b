@_spi(Internals) public import SessionCore

/// One thing that the user did and the server does not know yet (SYN-2, SYN-3).
///
/// Contents and bodies are the app's bytes: they are kept as they are and never looked at, and no
/// description shows them.
public struct Change: Hashable, Sendable {
  /// What is done to an entity.
  public enum Operation: UInt8, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// It does not exist at the server, or was deleted by a change before.
    case create = 0
    /// All of its content is replaced.
    case update = 1
    /// It goes.
    case delete = 2

    /// `create`, `update`, `delete`.
    public var description: String {
      switch self {
      case .create: "create"
      case .update: "update"
      case .delete: "delete"
      }
    }
  }

  /// An operation on one entity; may be put together with a later one (`Specs/ChangeLog.md`).
  public struct OnEntity: Hashable, Sendable {
    /// What is done.
    public let operation: Operation
    /// To which entity.
    public let entity: EntityReference
    /// The entity's whole content from then on; empty for a `delete`.
    public let content: [UInt8]
    /// Other entities that must exist for the server to take the content.
    public let mentions: [EntityReference]

    /// An operation.
    public init(
      _ operation: Operation, _ entity: EntityReference, content: [UInt8] = [],
      mentions: [EntityReference] = []
    ) {
      self.operation = operation
      self.entity = entity
      self.content = operation == .delete ? [] : content
      self.mentions = operation == .delete ? [] : mentions
    }
  }

  /// A request made while there was no way to send it (SYN-3); sent as it is, never put together.
  ///
  /// Has no headers: the token that counts is that of the moment of sending, and none is ever kept.
  public struct Request: Hashable, Sendable {
    /// The method, such as `POST`.
    public let method: String
    /// Path and query below the app's base address; must hold no secret.
    public let path: String
    /// The media type of the body.
    public let contentType: String?
    /// The body.
    public let body: [UInt8]

    /// A request; `nil` where the method is not made of 1 to 16 letters, or the path does not begin with
    /// one `/` or holds anything but visible ASCII, of which it may have 8,192 characters, or the media type
    /// anything but visible ASCII and spaces, of which it may have 1,024.
    public init?(
      _ method: String, _ path: String, contentType: String? = nil, body: [UInt8] = []
    ) {
      guard (1...16).contains(method.utf8.count), method.utf8.allSatisfy(\.isLetter),
        path.utf8.first == UInt8(ascii: "/"), path.utf8.dropFirst().first != UInt8(ascii: "/"),
        path.utf8.count <= 8_192, path.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
      else { return nil }
      // It becomes a header.
      if let contentType {
        guard contentType.utf8.count <= 1_024,
          contentType.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
      }
      self.method = method
      self.path = path
      self.contentType = contentType
      self.body = body
    }
  }

  /// What is to happen.
  public enum Action: Hashable, Sendable {
    /// An operation on an entity.
    case entity(OnEntity)
    /// A request.
    case request(Request)
  }

  /// Names this change to the server, whatever number of times it is sent: its idempotency key.
  public let key: Identifier
  /// What is to happen.
  public let action: Action

  /// A change; the key is a random UUID that the caller has made.
  public init(key: Identifier, _ action: Action) {
    self.key = key
    self.action = action
  }

  /// The entity that it is about; `nil` for a request.
  public var entity: EntityReference? {
    guard case .entity(let change) = action else { return nil }
    return change.entity
  }

  /// How many bytes of the app's it holds, of content or body.
  public var contentSize: Int {
    switch action {
    case .entity(let change): change.content.count
    case .request(let request): request.body.count
    }
  }

  /// How many bytes it counts for in a log's bound: all of its texts and contents.
  public var size: Int {
    switch action {
    case .entity(let change):
      64 + key.byteCount + change.content.count + change.entity.size
        + change.mentions.reduce(0) { $0 + $1.size }
    case .request(let request):
      64 + key.byteCount + request.method.utf8.count + request.path.utf8.count
        + (request.contentType?.utf8.count ?? 0) + request.body.count
    }
  }
}

extension Change: CustomStringConvertible, CustomReflectable {
  /// What is to happen, without content: `update task 17, 120 bytes`.
  public var description: String { action.description }

  /// Nothing but the description, so that no dump shows what the user wrote.
  public var customMirror: Mirror { Mirror(self, children: ["change": description]) }
}

extension Change.Action: CustomStringConvertible, CustomReflectable {
  /// What is to happen, without content.
  public var description: String {
    switch self {
    case .entity(let change): change.description
    case .request(let request): request.description
    }
  }

  /// Nothing but the description.
  public var customMirror: Mirror { Mirror(self, children: ["action": description]) }
}

extension Change.OnEntity: CustomStringConvertible, CustomReflectable {
  /// `update task 17, 120 bytes`.
  public var description: String {
    "\(operation) \(entity)" + (operation == .delete ? "" : ", \(content.count) bytes")
  }

  /// Nothing but the description.
  public var customMirror: Mirror { Mirror(self, children: ["operation": description]) }
}

extension Change.Request: CustomStringConvertible, CustomReflectable {
  /// `POST /notes, 12 bytes`: no query, no body.
  public var description: String { "\(method) \(pathWithoutQuery), \(body.count) bytes" }

  /// Nothing but the description.
  public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}

extension Change.Request {
  /// The path alone: a query may hold what the user typed.
  public var pathWithoutQuery: String { String(path.prefix { $0 != "?" }) }
}

extension EntityReference {
  fileprivate var size: Int { 64 + scope.utf8.count + type.utf8.count + id.byteCount }
}

extension UInt8 {
  fileprivate var isLetter: Bool { (0x41...0x5A).contains(self & 0xDF) }
}
