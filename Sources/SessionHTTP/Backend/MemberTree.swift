import SessionJSON
import SessionKit

/// The members of a request as a tree, built from their names.
///
/// `user.email` is `email` within `user`, and `user\.email` is one name with a dot. If a name lies
/// within the value of another one, the inner one counts.
struct MemberTree {
  private enum Node {
    case value(RequestField)
    case members([String: Node])
  }

  private var root: [String: Node] = [:]

  init(_ members: [String: RequestField]) {
    for (key, field) in members.sorted(by: { $0.key < $1.key }) {
      MemberTree.put(field, at: MemberTree.steps(key)[...], into: &root)
    }
  }

  /// The members as a JSON object, sorted by name.
  var json: String { MemberTree.json(root) }

  /// Returns the name in a form, which has no nested members.
  static func plain(_ key: String) -> String { steps(key).joined(separator: ".") }

  private static func steps(_ key: String) -> [String] {
    var steps = [""]
    var isEscaped = false
    for character in key {
      if isEscaped || character != "\\" && character != "." {
        if isEscaped, character != "." { steps[steps.count - 1].append("\\") }
        steps[steps.count - 1].append(character)
        isEscaped = false
      } else if character == "." {
        steps.append("")
      } else {
        isEscaped = true
      }
    }
    if isEscaped { steps[steps.count - 1].append("\\") }
    return steps
  }

  private static func put(
    _ field: RequestField, at steps: ArraySlice<String>, into members: inout [String: Node]
  ) {
    guard let name = steps.first else { return }
    let rest = steps.dropFirst()
    var inner: [String: Node] = [:]
    if case .members(let found) = members[name] { inner = found }
    guard !rest.isEmpty else {
      if inner.isEmpty { members[name] = .value(field) }
      return
    }
    put(field, at: rest, into: &inner)
    members[name] = .members(inner)
  }

  private static func json(_ members: [String: Node]) -> String {
    let pairs = members.sorted { $0.key < $1.key }.map { name, node in
      switch node {
      case .value(let field): "\(JSONValue.quoted(name)):\(field.json)"
      case .members(let inner): "\(JSONValue.quoted(name)):\(json(inner))"
      }
    }
    return "{\(pairs.joined(separator: ","))}"
  }
}
