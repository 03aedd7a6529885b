@_spi(Internals) package import SessionCore
package import SessionJSON
package import SessionKit

// Members by the paths of a backend's configuration.
extension JSONMembers {
  func name(_ path: MemberPath) -> String { name(at: path.steps) }

  func missing(_ path: MemberPath) -> Unreadable { Unreadable("\(name(path)) is missing") }

  /// Returns the value at a path; `nil` if it is missing or `null`.
  package func value(_ path: MemberPath) throws(Unreadable) -> JSONValue? {
    try value(at: path.steps)
  }

  /// Returns the first value that `read` finds at one of the paths.
  ///
  /// If it finds none, throws the first problem.
  func first<Value>(
    _ paths: MemberPaths, _ read: (MemberPath) throws(Unreadable) -> Value?
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

  /// Returns a text.
  ///
  /// A whole number is returned as its digits.
  func textOrInteger(_ path: MemberPath) throws(Unreadable) -> String? {
    try textOrInteger(at: path.steps)
  }

  /// Returns a text or a whole number as an identifier.
  ///
  /// Throws if it is empty.
  func identifier(_ path: MemberPath) throws(Unreadable) -> Identifier? {
    try identifier(at: path.steps)
  }

  /// Returns a token.
  package func token(_ path: MemberPath) throws(Unreadable) -> Secret? {
    guard let text = try string(path) else { return nil }
    guard !text.isEmpty else { throw Unreadable("\(name(path)) is empty") }
    let token = Secret(text)
    guard token.isToken else {
      throw Unreadable("\(name(path)) contains a character that no token may contain")
    }
    return token
  }

  /// Returns a number, or a text of digits with at most one decimal point; infinite if it is out of
  /// range.
  package func number(_ path: MemberPath, must: String) throws(Unreadable) -> Double? {
    switch try value(path) {
    case nil: return nil
    case .number(let number): return number.value
    case .string(let text):
      guard let number = JSONMembers.number(text) else {
        throw Unreadable("\(name(path)) is not a number; it must be \(must)")
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

  /// Returns a text, a boolean or a whole number as a text.
  package func word(_ path: MemberPath) throws(Unreadable) -> String? {
    if case .bool(let flag) = try value(path) { return flag ? "true" : "false" }
    return try textOrInteger(path)
  }

  /// Returns an instant: RFC 3339, or a number since 1970, in seconds or, from 10¹¹ on, in
  /// milliseconds.
  func instant(
    _ path: MemberPath, must: String, assumesUTC: Bool
  ) throws(Unreadable) -> Timestamp? {
    if case .string(let text) = try value(path) {
      if let time = Timestamp(text) { return time }
      if let time = Timestamp(text + "Z") {
        guard !assumesUTC else { return time }
        throw Unreadable("\(name(path)) has no time zone; set response.assumesUTC if it is UTC")
      }
      guard JSONMembers.number(text) != nil else {
        throw Unreadable("\(name(path)) is not a time; it must be \(must)")
      }
    }
    guard let number = try number(path, must: must) else { return nil }
    let milliseconds = number < 1e11 ? number * 1000 : number
    guard milliseconds < 3e15 else {
      throw Unreadable("\(name(path)) is more than ten years; it must be \(must)")
    }
    return Timestamp(milliseconds: Int64(max(-3e15, milliseconds).rounded()))
  }

  /// Returns the first text at one of the paths.
  ///
  /// Other types are ignored.
  package func hint(_ paths: MemberPaths) -> String? { hint(at: paths.map(\.steps)) }

  /// Returns the identifier with a name; `nil` if it is missing or has another type.
  package func identifierHint(_ name: String) -> Identifier? { identifierHint(at: [name]) }

  package func identifierHint(_ path: MemberPath) -> Identifier? { identifierHint(at: path.steps) }

  /// Returns a problem with the first of these paths that has a value.
  func problem(_ paths: MemberPaths, _ what: String) -> Unreadable {
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
        throw Unreadable("\(name(path)) contains \(element.kind); it must be an array of strings")
      }
      texts.append(text)
    }
    return texts
  }

  func object(_ path: MemberPath) throws(Unreadable) -> JSONMembers? {
    guard !path.steps.isEmpty else { return self }
    guard let node = try node(at: path.steps) else { return nil }
    guard node.kind == .object else { throw wrong(at: path.steps, node.value, "an object") }
    return members(of: node, at: path.steps)
  }
}

/// The path of a member, with names from the outermost to the innermost: `data.tokens.access`.
///
/// A step of digits is a name within an object, and an index from 0 within an array: `emails.0`.
public struct MemberPath: Hashable, Sendable {
  /// The names, the outermost first.
  public let steps: [String]

  /// The path of the object itself.
  public static let whole = MemberPath(steps: [])

  /// Creates a path of these names, which may contain dots.
  public init(steps: [String]) {
    self.steps = steps
  }

  /// Creates a path from names with dots between them.
  ///
  /// An empty text is the object itself.
  public init(_ text: String) {
    steps =
      text.isEmpty || text.utf8.contains(UInt8(ascii: "."))
      ? text.split(separator: ".").map(String.init) : [text]
  }
}

/// The paths of one value, of which the first that is present counts.
///
/// Write one path as a text, `"token"`, and several as a list, `["token", "access_token"]`.
public struct MemberPaths: Hashable, Sendable, RandomAccessCollection {
  private let paths: [MemberPath]

  /// Creates a list of these paths, the first to look for first.
  public init(_ paths: [MemberPath]) {
    self.paths = paths
  }

  /// 0, the index of the first path.
  public var startIndex: Int { 0 }

  /// The number of paths.
  public var endIndex: Int { paths.count }

  /// The path with this index.
  public subscript(index: Int) -> MemberPath { paths[index] }
}

extension MemberPaths: ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
  /// Creates a list of one path, from names with dots between them.
  public init(stringLiteral text: String) {
    self.init([MemberPath(text)])
  }

  /// Creates a list of these paths.
  public init(arrayLiteral paths: MemberPath...) {
    self.init(paths)
  }
}

extension MemberPath {
  /// The path as the name of a request's member: dots between the names, and `\.` for a dot in a
  /// name.
  var key: String {
    steps.map {
      $0.split(separator: ".", omittingEmptySubsequences: false).joined(separator: "\\.")
    }
    .joined(separator: ".")
  }
}

extension MemberPath: ExpressibleByStringLiteral, CustomStringConvertible {
  /// Creates a path from names with dots between them.
  public init(stringLiteral text: String) {
    self.init(text)
  }

  /// The names with dots between them, or `the body` for the object itself.
  public var description: String {
    steps.isEmpty ? "the body" : steps.dotted
  }
}
