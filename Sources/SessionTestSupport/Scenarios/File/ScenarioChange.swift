@_spi(Internals) import SessionChanges
@_spi(Internals) import SessionCore

/// A change as a file has it: `create task/5f1c <K1>`, with its content below.
struct ScenarioChange: Hashable, Sendable {
  enum Action: Hashable, Sendable {
    case entity(Change.Operation, EntityReference)
    case request(method: String, path: String)
  }

  let action: Action
  /// The name of its key, and then the key.
  var key: String
  /// A JSON text.
  var content: String?
  var mentions: [EntityReference] = []
}

/// Which changes there must be.
enum ScenarioChanges: Hashable, Sendable {
  case count(Int)
  /// Exactly those with these keys, in this order.
  case keys([String])
}

extension EntityReference {
  /// `task/5f1c`, or `north/task/5f1c` in a scope; `nil` where the text is none.
  init?(path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard (2...3).contains(parts.count), parts.allSatisfy({ $0.isEntityPart }) else { return nil }
    let scope = parts.count == 3 ? parts[0] : ""
    self.init(parts[parts.count - 2], Identifier(parts[parts.count - 1]), scope: scope)
  }

  /// The same text again.
  var path: String { (scope.isEmpty ? "" : scope + "/") + "\(type)/\(id)" }
}

extension String {
  fileprivate var isEntityPart: Bool {
    !isEmpty && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
  }
}
