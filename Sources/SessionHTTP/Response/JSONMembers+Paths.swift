@_spi(Internals) package import SessionCore
package import SessionJSON
package import SessionKit

// Members by the paths of a backend's configuration.
extension JSONMembers {
  func name(_ path: MemberPath) -> String { name(at: path.steps) }

  func missing(_ path: MemberPath) -> Unreadable { Unreadable("\(name(path)) is missing") }

  /// What is at a path; `nil` for nothing or `null`.
  package func value(_ path: MemberPath) throws(Unreadable) -> JSONValue? {
    try value(at: path.steps)
  }

  /// What `read` finds at the first path where it finds something; else the first problem that it had.
  func first<Value>(
    _ paths: [MemberPath], _ read: (MemberPath) throws(Unreadable) -> Value?
  ) throws(Unreadable) -> Value? {
    var problem: Unreadable?
    for path in paths {
      do throws(Unreadable) {
        if let value = try read(path) { return value }
      } catch {
        problem = problem ?? error
      }
    }
    if let problem { throw problem }
    return nil
  }

  func string(_ path: MemberPath) throws(Unreadable) -> String? { try string(at: path.steps) }

  /// A text, or a whole number as its digits.
  func textOrInteger(_ path: MemberPath) throws(Unreadable) -> String? {
    try textOrInteger(at: path.steps)
  }

  /// A text or a whole number, which must not be empty if there is one.
  func identifier(_ path: MemberPath) throws(Unreadable) -> Identifier? {
    try identifier(at: path.steps)
  }

  /// A token.
  package func token(_ path: MemberPath) throws(Unreadable) -> Secret? {
    guard let text = try string(path) else { return nil }
    guard !text.isEmpty else { throw Unreadable("\(name(path)) is empty") }
    let token = Secret(text)
    guard token.isToken else {
      throw Unreadable("\(name(path)) has characters that no token has")
    }
    return token
  }

  /// A number, or a text of digits with at most one point between them; infinite if it is out of range.
  package func number(_ path: MemberPath, must: String) throws(Unreadable) -> Double? {
    switch try value(path) {
    case nil: return nil
    case .number(let number): return number.value
    case .string(let text):
      guard let number = JSONMembers.number(text) else {
        throw Unreadable("\(name(path)) is no number; it must be \(must)")
      }
      return number
    case .some(let value): throw wrong(at: path.steps, value, must)
    }
  }

  static func number(_ text: String) -> Double? {
    guard text.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") }),
      text.utf8.first != UInt8(ascii: "."), text.utf8.last != UInt8(ascii: ".")
    else { return nil }
    return Double(text)
  }

  /// A text, a boolean or a whole number, as a word.
  package func word(_ path: MemberPath) throws(Unreadable) -> String? {
    if case .bool(let flag) = try value(path) { return flag ? "true" : "false" }
    return try textOrInteger(path)
  }

  /// An instant: RFC 3339, or since 1970 in seconds or, from 10¹¹ on, in milliseconds.
  func instant(_ path: MemberPath, must: String) throws(Unreadable) -> Timestamp? {
    if case .string(let text) = try value(path) {
      if let time = Timestamp(text) { return time }
      guard JSONMembers.number(text) != nil else {
        throw Unreadable("\(name(path)) is no time; it must be \(must)")
      }
    }
    guard let number = try number(path, must: must) else { return nil }
    let milliseconds = number < 1e11 ? number * 1000 : number
    guard milliseconds < 3e15 else {
      throw Unreadable("\(name(path)) is more than ten years; it must be \(must)")
    }
    return Timestamp(milliseconds: Int64(max(-3e15, milliseconds).rounded()))
  }

  /// The first text there is, without regard to what else there is.
  package func hint(_ paths: [MemberPath]) -> String? { hint(at: paths.map(\.steps)) }

  /// The identifier under a name, or `nil` if it is of another type.
  package func identifierHint(_ name: String) -> Identifier? { identifierHint(at: [name]) }

  package func identifierHint(_ path: MemberPath) -> Identifier? { identifierHint(at: path.steps) }

  /// A problem of the first of these paths where something is.
  func problem(_ paths: [MemberPath], _ what: String) -> Unreadable {
    let path = paths.first { path in
      do { return try value(path) != nil } catch { return false }
    }
    return Unreadable("\(name(path ?? paths.first ?? .whole)) \(what)")
  }

  func strings(_ path: MemberPath) throws(Unreadable) -> [String] {
    guard let value = try value(path) else { return [] }
    guard case .array(let elements) = value else {
      throw wrong(at: path.steps, value, "an array of strings")
    }
    var texts: [String] = []
    for element in elements {
      guard case .string(let text) = element else {
        throw Unreadable("\(name(path)) holds \(element.kind); it must be an array of strings")
      }
      texts.append(text)
    }
    return texts
  }

  func object(_ path: MemberPath) throws(Unreadable) -> JSONMembers? {
    guard !path.steps.isEmpty else { return self }
    guard let value = try value(path) else { return nil }
    guard case .object(let members) = value else { throw wrong(at: path.steps, value, "an object") }
    return JSONMembers(members, prefix: "\(name(path)).")
  }
}
