import SessionJSON

/// A JSON text in which `<A1>` is replaced by a token, and `"*"` matches any value.
struct JSONTemplate: Sendable {
  let value: JSONValue

  /// Returns the value with its strings changed.
  func filled<Failure: Error>(
    _ change: (String) throws(Failure) -> String
  ) throws(Failure) -> JSONValue {
    try JSONTemplate.change(value, change)
  }

  private static func change<Failure: Error>(
    _ value: JSONValue, _ change: (String) throws(Failure) -> String
  ) throws(Failure) -> JSONValue {
    switch value {
    case .string(let text): return .string(try change(text))
    case .array(let values):
      var changed: [JSONValue] = []
      for value in values { changed.append(try self.change(value, change)) }
      return .array(changed)
    case .object(let members):
      var changed: [String: JSONValue] = [:]
      for (name, value) in members { changed[name] = try self.change(value, change) }
      return .object(changed)
    case .null, .bool, .number, .unreadable: return value
    }
  }

  /// Returns the first difference without the values themselves; `nil` if there is none.
  static func difference(_ expected: JSONValue, _ actual: JSONValue, at path: String = "")
    -> String?
  {
    let place = path.isEmpty ? "the body" : path
    switch (expected, actual) {
    case (.string("*"), _): return nil
    case (.object(let left), .object(let right)):
      for name in left.keys.sorted() {
        let inner = path.isEmpty ? name : "\(path).\(name)"
        guard let value = left[name], let other = right[name] else {
          return "\(inner) is missing"
        }
        if let difference = difference(value, other, at: inner) { return difference }
      }
      let extra = Set(right.keys).subtracting(left.keys).sorted()
      return extra.isEmpty ? nil : "\(place) also has \(extra.joined(separator: ", "))"
    case (.array(let left), .array(let right)):
      guard left.count == right.count else { return "\(place) has \(right.count) values" }
      for (index, pair) in zip(left, right).enumerated() {
        let inner = "\(path)[\(index)]"
        if let difference = difference(pair.0, pair.1, at: inner) { return difference }
      }
      return nil
    default: return expected == actual ? nil : "\(place) is another"
    }
  }
}

extension JSONValue {
  /// Whether no value in it is unreadable.
  var isReadable: Bool {
    switch self {
    case .null, .bool, .number, .string: true
    case .array(let values): values.allSatisfy(\.isReadable)
    case .object(let members): members.values.allSatisfy(\.isReadable)
    case .unreadable: false
    }
  }
}
