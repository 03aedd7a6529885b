@_spi(Internals) package import SessionCore
package import SessionJSON

/// What is wrong with an answer that says success: in words, without what it holds.
package struct Unreadable: Error, Hashable {
  let problem: String

  init(_ problem: String) {
    self.problem = problem
  }
}

/// The members of a JSON object, read by path and type; `null` is as if it were missing.
package struct JSONMembers: Sendable {
  package let root: JSONValue
  /// How the object is called in a problem; empty for the outermost.
  private let prefix: String

  init(_ members: [String: JSONValue], prefix: String = "") {
    root = .object(members)
    self.prefix = prefix
  }

  /// The object that a body is.
  package init(body: [UInt8]) throws(Unreadable) {
    guard body.count <= HTTPResponse.bodyLimit else {
      throw Unreadable("the body is longer than 1 MiB")
    }
    guard let first = AnswerSigns.first(body) else {
      throw Unreadable("the body is empty; it must be a JSON object")
    }
    guard first != UInt8(ascii: "<") else {
      throw Unreadable("the body is a page (HTML or XML); it must be a JSON object")
    }
    let value: JSONValue
    do { value = try JSONReader.read(body) } catch {
      throw Unreadable("the body is no JSON from byte \(error.offset) on")
    }
    guard case .object(let members) = value else {
      throw Unreadable("the body is \(value.kind); it must be an object")
    }
    self.init(members)
  }

  func name(_ path: MemberPath) -> String {
    path.steps.isEmpty ? path.description : prefix + path.description
  }

  private func wrong(_ path: MemberPath, _ value: JSONValue, _ must: String) -> Unreadable {
    Unreadable("\(name(path)) is \(value.kind); it must be \(must)")
  }

  func missing(_ path: MemberPath) -> Unreadable { Unreadable("\(name(path)) is missing") }

  /// What is at a path; `nil` where nothing or `null` is.
  package func value(_ path: MemberPath) throws(Unreadable) -> JSONValue? {
    var value = root
    for (depth, step) in path.steps.enumerated() {
      switch value {
      case .object(let members): value = members[step] ?? .null
      case .array(let elements):
        guard let index = Int(step), elements.indices.contains(index) else { return nil }
        value = elements[index]
      case .null: return nil
      default:
        throw wrong(MemberPath(steps: Array(path.steps.prefix(depth))), value, "an object")
      }
    }
    return value == .null ? nil : value
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

  func string(_ path: MemberPath) throws(Unreadable) -> String? {
    guard let value = try value(path) else { return nil }
    guard case .string(let text) = value else { throw wrong(path, value, "a string") }
    return text
  }

  /// A text, or a whole number as its digits.
  func textOrInteger(_ path: MemberPath) throws(Unreadable) -> String? {
    guard let value = try value(path) else { return nil }
    switch value {
    case .string(let text): return text
    case .number(let number):
      if let integer = number.integer { return integer }
      throw Unreadable("\(name(path)) has a fraction or an exponent; it must be a whole number")
    default: throw wrong(path, value, "a string or a whole number")
    }
  }

  /// A text or a whole number, which must not be empty where there is one.
  func identifier(_ path: MemberPath) throws(Unreadable) -> Identifier? {
    guard let text = try textOrInteger(path) else { return nil }
    guard !text.isEmpty else { throw Unreadable("\(name(path)) is empty") }
    return Identifier(text)
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
    case .some(let value): throw wrong(path, value, must)
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
  package func hint(_ paths: [MemberPath]) -> String? {
    for path in paths {
      do throws(Unreadable) {
        if let text = try string(path), !text.isEmpty { return text }
      } catch {
        // Only a hint: of another type it is as if it were missing.
        continue
      }
    }
    return nil
  }

  /// The identifier there is, or `nil` where it is of another type.
  package func identifierHint(_ name: String) -> Identifier? {
    identifierHint(MemberPath(steps: [name]))
  }

  package func identifierHint(_ path: MemberPath) -> Identifier? {
    do { return try identifier(path) } catch { return nil }
  }

  /// A time in seconds since 1970 (RFC 7519 §2), within ±100,000 years, where milliseconds are exact.
  package func time(_ claim: String) -> Timestamp? {
    guard case .object(let members) = root, case .number(let seconds) = members[claim],
      abs(seconds.value) < 3e12
    else { return nil }
    return Timestamp(milliseconds: Int64((seconds.value * 1000).rounded()))
  }

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
      throw wrong(path, value, "an array of strings")
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
    guard case .object(let members) = value else { throw wrong(path, value, "an object") }
    return JSONMembers(members, prefix: "\(name(path)).")
  }
}

extension Secret {
  /// Whether it is visible ASCII, as a token is that travels in a header field (RFC 6750 §2.1).
  var isToken: Bool {
    !value.isEmpty && value.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
