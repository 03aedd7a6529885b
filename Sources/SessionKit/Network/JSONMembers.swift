import SessionCore

/// What is wrong with an answer that says success: in words, without what it holds.
struct Unreadable: Error, Hashable {
  let problem: String

  init(_ problem: String) {
    self.problem = problem
  }
}

/// The members of a JSON object, read by type; `null` is as if it were missing.
struct JSONMembers {
  private let members: [String: JSONValue]
  /// How the object is called in a problem; empty for the outermost.
  private let prefix: String

  init(_ members: [String: JSONValue], prefix: String = "") {
    self.members = members
    self.prefix = prefix
  }

  /// The object that a body is.
  init(body: [UInt8]) throws(Unreadable) {
    guard body.count <= HTTPResponse.bodyLimit else {
      throw Unreadable("the body is longer than 1 MiB")
    }
    guard let first = body.first(where: { !" \n\r\t".utf8.contains($0) }) else {
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

  private func name(_ key: String) -> String { prefix + key }

  private func wrong(_ key: String, _ value: JSONValue, _ must: String) -> Unreadable {
    Unreadable("\(name(key)) is \(value.kind); it must be \(must)")
  }

  func value(_ key: String) -> JSONValue? {
    let value = members[key]
    return value == .null ? nil : value
  }

  func missing(_ key: String) -> Unreadable { Unreadable("\(name(key)) is missing") }

  func string(_ key: String) throws(Unreadable) -> String? {
    guard let value = value(key) else { return nil }
    guard case .string(let text) = value else { throw wrong(key, value, "a string") }
    return text
  }

  /// A text that must not be empty where there is one.
  func identifier(_ key: String) throws(Unreadable) -> Identifier? {
    guard let text = try string(key) else { return nil }
    guard !text.isEmpty else { throw Unreadable("\(name(key)) is empty") }
    return Identifier(text)
  }

  /// A token: visible ASCII, so that it can travel in a header field (RFC 6750 §2.1).
  func token(_ key: String) throws(Unreadable) -> Secret? {
    guard let text = try string(key) else { return nil }
    guard !text.isEmpty else { throw Unreadable("\(name(key)) is empty") }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw Unreadable("\(name(key)) has characters that no token has")
    }
    return Secret(text)
  }

  /// Seconds above 0, as milliseconds: at least 1, at most ten years.
  func lifetime(_ key: String) throws(Unreadable) -> Int64 {
    let must = "a number of seconds above 0"
    guard let value = value(key) else {
      throw Unreadable("\(name(key)) is missing; it must be \(must)")
    }
    guard case .number(let seconds) = value else { throw wrong(key, value, must) }
    let milliseconds = (seconds * 1000).rounded()
    guard milliseconds >= 1 else {
      throw Unreadable("\(name(key)) is not above 0; it must be \(must)")
    }
    guard milliseconds <= JSONMembers.tenYears else {
      throw Unreadable("\(name(key)) is more than ten years; it must be \(must)")
    }
    return Int64(milliseconds)
  }

  private static let tenYears = 10.0 * 366 * 86_400_000

  func strings(_ key: String) throws(Unreadable) -> [String] {
    guard let value = value(key) else { return [] }
    guard case .array(let elements) = value else { throw wrong(key, value, "an array of strings") }
    var texts: [String] = []
    for element in elements {
      guard case .string(let text) = element else {
        throw Unreadable("\(name(key)) holds \(element.kind); it must be an array of strings")
      }
      texts.append(text)
    }
    return texts
  }

  func object(_ key: String) throws(Unreadable) -> JSONMembers? {
    guard let value = value(key) else { return nil }
    guard case .object(let members) = value else { throw wrong(key, value, "an object") }
    return JSONMembers(members, prefix: "\(name(key)).")
  }
}
