@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// A JSON object whose members are all read by their keys; none may remain.
struct ImportObject {
  /// Its place in the line: empty for the line itself, otherwise `facts.token`, for example.
  private let path: String
  private var members: [String: JSONTree]
  /// The keys that were read.
  private var known: [String] = []

  init(_ value: JSONTree, at path: String = "") throws(ImportProblem) {
    guard case .object(let members) = value else {
      throw ImportProblem(
        .badLine, "\(path.isEmpty ? "it" : "\"\(path)\"") is \(value.word), not an object")
    }
    self.path = path
    self.members = Dictionary(members.map { ($0.key, $0.value) }) { first, _ in first }
  }

  /// Throws if a member was not read.
  func finish() throws(ImportProblem) {
    guard let key = members.keys.sorted().first(where: { !known.contains($0) }) else { return }
    let near = Suggestion.nearest(to: key, in: known.filter { members[$0] == nil })
    throw ImportProblem(
      .unknownField, "there is no \"\(place(key))\" in such a line",
      next: near.map { "\"\(place($0))\"" })
  }

  /// Returns the problem with the member of this key.
  func problem(_ key: String, _ message: String) -> ImportProblem {
    ImportProblem(.badLine, "\"\(place(key))\" \(message)")
  }

  /// Returns whether the object has the key, with any value.
  mutating func has(_ key: String) -> Bool {
    known.append(key)
    return members[key] != nil
  }

  mutating func value(_ key: String) throws(ImportProblem) -> JSONTree {
    guard has(key), let value = members[key] else {
      throw ImportProblem(.badLine, "\"\(place(key))\" is missing")
    }
    return value
  }

  /// Returns the value that `read` returns for the member; `nil` if the member is `null`.
  mutating func optional<Value>(
    _ key: String, _ read: (inout ImportObject, String) throws(ImportProblem) -> Value
  ) throws(ImportProblem) -> Value? {
    if case .null = try value(key) { return nil }
    return try read(&self, key)
  }

  mutating func object<Value>(
    _ key: String, _ read: (inout ImportObject) throws(ImportProblem) -> Value
  ) throws(ImportProblem) -> Value {
    var object = try ImportObject(try value(key), at: place(key))
    let value = try read(&object)
    try object.finish()
    return value
  }

  mutating func array<Value>(
    _ key: String, _ read: (JSONTree, String) throws(ImportProblem) -> Value
  ) throws(ImportProblem) -> [Value] {
    let value = try value(key)
    guard case .array(let elements) = value else { throw wrong(key, value, "a list") }
    var values: [Value] = []
    values.reserveCapacity(elements.count)
    for element in elements { values.append(try read(element, place(key))) }
    return values
  }

  mutating func text(_ key: String) throws(ImportProblem) -> String {
    let value = try value(key)
    guard case .text(let text) = value else { throw wrong(key, value, "a text") }
    return text
  }

  mutating func flag(_ key: String) throws(ImportProblem) -> Bool {
    let value = try value(key)
    guard case .flag(let flag) = value else { throw wrong(key, value, "true or false") }
    return flag
  }

  mutating func number<Value: FixedWidthInteger>(
    _ key: String, _: Value.Type = Value.self
  ) throws(ImportProblem) -> Value {
    try Self.number(try value(key), place(key))
  }

  static func number<Value: FixedWidthInteger>(
    _ value: JSONTree, _ place: String
  ) throws(ImportProblem) -> Value {
    guard case .number(let digits) = value, digits != "-0", let number = Value(digits) else {
      let found = if case .number(let digits) = value { digits } else { value.word }
      throw ImportProblem(
        .badLine,
        "\"\(place)\" is \(found.shortened), not a whole number from \(Value.min) to \(Value.max)")
    }
    return number
  }

  mutating func time(_ key: String) throws(ImportProblem) -> Timestamp {
    let text = try text(key)
    guard let time = Timestamp(printed: text) else {
      throw problem(key, "is no time as an export writes it, such as 2026-11-21T14:00:05.205Z")
    }
    return time
  }

  mutating func identifier(_ key: String) throws(ImportProblem) -> Identifier {
    Identifier(try text(key))
  }

  mutating func code<Value: OpenEnum>(_ key: String) throws(ImportProblem) -> Value {
    let word = try text(key)
    guard let code = Value(word: word) else {
      let near = Suggestion.nearest(to: word, in: Value.words)
      throw ImportProblem(
        .badLine, "\"\(place(key))\" cannot be \"\(word.shortened)\"",
        next: near.map { "\"\($0)\"" })
    }
    return code
  }

  mutating func generation(_ key: String) throws(ImportProblem) -> Generation {
    Generation(try number(key))
  }

  mutating func bytes(_ key: String) throws(ImportProblem) -> [UInt8] {
    let digits = Array(try text(key).utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard place + 1 < digits.count, let high = hexadecimalDigit(digits[place]),
        let low = hexadecimalDigit(digits[place + 1])
      else { throw problem(key, "is not written as pairs of hexadecimal digits") }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private func place(_ key: String) -> String {
    path.isEmpty ? key.shortened : "\(path).\(key.shortened)"
  }

  private func wrong(_ key: String, _ found: JSONTree, _ wanted: String) -> ImportProblem {
    problem(key, "is \(found.word), not \(wanted)")
  }
}

/// Why a line cannot be a line of an export.
struct ImportProblem: Error, Equatable, Sendable {
  /// A stable name for programs.
  enum Name: String, CaseIterable, Sendable {
    /// The line is not JSON, or a member is missing or has the wrong type.
    case badLine = "badLine"
    /// The line has an unknown key.
    case unknownField = "unknownField"
    /// The sequence is not the next one.
    case gap = "gap"
    /// The session's state does not allow this record.
    case illegalLine = "illegalLine"
    /// The export leaves records out, so that it cannot be imported.
    case partial = "partial"
  }

  let name: Name
  /// The problem, to be printed after "line 7: ".
  let message: String
  /// The next step; `nil` if it is to look at the line.
  let next: String?

  init(_ name: Name, _ message: String, next: String? = nil) {
    self.name = name
    self.message = message
    self.next = next
  }
}
