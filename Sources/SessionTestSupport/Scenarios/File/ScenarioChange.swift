@_spi(Internals) import SessionChanges
@_spi(Internals) import SessionCore

/// A change in a file: `create task/5f1c <K1>`, with its content in the lines below.
struct ScenarioChange: Hashable, Sendable {
  enum Action: Hashable, Sendable {
    case entity(Change.Operation, EntityReference)
    case request(method: String, path: String)
  }

  let action: Action
  /// The name of its key; the runner replaces it by the key.
  var key: String
  /// The content as JSON text.
  var content: String?
  var mentions: [EntityReference] = []
}

/// The expected changes.
enum ScenarioChanges: Hashable, Sendable {
  case count(Int)
  /// Exactly the changes with these keys, in this order.
  case keys([String])
}

extension EntityReference {
  /// Parses `task/5f1c`, or `north/task/5f1c` with a scope; `nil` if the text is neither.
  init?(path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard (2...3).contains(parts.count), parts.allSatisfy({ $0.isEntityPart }) else { return nil }
    let scope = parts.count == 3 ? parts[0] : ""
    self.init(parts[parts.count - 2], Identifier(parts[parts.count - 1]), scope: scope)
  }

  /// The reference as text: `task/5f1c` or `north/task/5f1c`.
  var path: String { (scope.isEmpty ? "" : scope + "/") + "\(type)/\(id)" }
}

extension String {
  fileprivate var isEntityPart: Bool {
    !isEmpty && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
  }
}
