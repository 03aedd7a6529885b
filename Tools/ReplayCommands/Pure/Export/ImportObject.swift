@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// A JSON object whose members are all read by their keys; none may remain.
struct ImportObject {
  /// The place of the object around it: empty for the line itself, otherwise `facts`, for example.
  private let above: String
  /// Its key in that object.
  private let ownKey: String
  private var members: JSONPart.Members
  /// The numbers of the members that were read: the first 64, and further ones.
  private var isRead: UInt64 = 0
  private var furtherRead: Set<Int> = []
  /// The keys that were asked for and are not there.
  private var absent: [String] = []

  init(_ value: JSONPart, of above: String = "", at key: String = "") throws(ImportProblem) {
    (self.above, ownKey) = (above, key)
    guard let members = JSONPart.Members(value) else {
      let path = above.isEmpty ? key : "\(above).\(key)"
      throw ImportProblem(
        .badLine, "\(path.isEmpty ? "it" : "\"\(path)\"") is \(value.word), not an object")
    }
    self.members = members
  }

  private var path: String { above.isEmpty ? ownKey : "\(above).\(ownKey)" }

  /// Throws if a member was not read.
  func finish() throws(ImportProblem) {
    guard isRead.nonzeroBitCount + furtherRead.count != members.count else { return }
    let unread = members.keys.enumerated().filter { number, _ in
      number < 64 ? isRead & (1 << UInt64(number)) == 0 : !furtherRead.contains(number)
    }
    guard let key = unread.map(\.element).min() else { return }
    let near = Suggestion.nearest(to: key, in: absent)
    throw ImportProblem(
      .unknownField, "there is no \"\(place(key))\" in such a line",
      next: near.map { "\"\(place($0))\"" })
  }

  func problem(_ key: StaticString, _ message: @autoclosure () -> String, next: String? = nil)
    -> ImportProblem
  {
    ImportProblem(.badLine, "\"\(place(key.description))\" \(message())", next: next)
  }

  mutating func has(_ key: StaticString) -> Bool { member(key) != nil }

  mutating func value(_ key: StaticString) throws(ImportProblem) -> JSONPart {
    guard let value = member(key) else {
      throw ImportProblem(.badLine, "\"\(place(key.description))\" is missing")
    }
    return value
  }

  private mutating func member(_ key: StaticString) -> JSONPart? {
    guard let (value, number) = members.find(key) else {
      absent.append(key.description)
      return nil
    }
    if number < 64 { isRead |= 1 << UInt64(number) } else { furtherRead.insert(number) }
    return value
  }

  mutating func optional<Value>(
    _ key: StaticString, _ read: (inout ImportObject, StaticString) throws(ImportProblem) -> Value
  ) throws(ImportProblem) -> Value? {
    if try value(key).kind == .null { return nil }
    return try read(&self, key)
  }

  mutating func object<Value>(
    _ key: StaticString, _ read: (inout ImportObject) throws(ImportProblem) -> Value
  ) throws(ImportProblem) -> Value {
    var object = try ImportObject(try value(key), of: path, at: key.description)
    let value = try read(&object)
    try object.finish()
    return value
  }

  mutating func texts(_ key: StaticString) throws(ImportProblem) -> [String] {
    try array(key) { (value, place) throws(ImportProblem) in
      guard let text = value.text else {
        throw ImportProblem(.badLine, "\"\(place)\" has \(value.word) in it, not only texts")
      }
      return text
    }
  }

  mutating func numbers<Value: FixedWidthInteger>(_ key: StaticString) throws(ImportProblem)
    -> [Value]
  {
    try array(key) { (value, place) throws(ImportProblem) in try Self.number(value, place) }
  }

  private mutating func array<Value>(
    _ key: StaticString, _ read: (JSONPart, String) throws(ImportProblem) -> Value
  ) throws(ImportProblem) -> [Value] {
    let value = try value(key)
    guard value.kind == .array else { throw wrong(key, value, "a list") }
    let elements = value.elements
    var values: [Value] = []
    values.reserveCapacity(elements.count)
    for element in elements { values.append(try read(element, place(key.description))) }
    return values
  }

  mutating func text(_ key: StaticString) throws(ImportProblem) -> String {
    let value = try value(key)
    guard let text = value.text else { throw wrong(key, value, "a text") }
    return text
  }

  mutating func identifier(_ key: StaticString) throws(ImportProblem) -> Identifier {
    Identifier(try text(key))
  }

  mutating func flag(_ key: StaticString) throws(ImportProblem) -> Bool {
    let value = try value(key)
    switch value.kind {
    case .yes: return true
    case .no: return false
    default: throw wrong(key, value, "true or false")
    }
  }

  mutating func number<Value: FixedWidthInteger>(_ key: StaticString) throws(ImportProblem) -> Value
  {
    let value = try value(key)
    return try Self.number(value, place(key.description))
  }

  private static func number<Value: FixedWidthInteger>(
    _ value: JSONPart, _ place: @autoclosure () -> String
  ) throws(ImportProblem) -> Value {
    guard let number: Value = value.integer() else {
      let found = value.kind == .number ? value.spelling : value.word
      throw ImportProblem(
        .badLine,
        "\"\(place())\" is \(found.shortened), not a whole number from \(Value.min) to \(Value.max)"
      )
    }
    return number
  }

  mutating func bytes(_ key: StaticString) throws(ImportProblem) -> [UInt8] {
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

  mutating func time(_ key: StaticString) throws(ImportProblem) -> Timestamp {
    guard let time = Timestamp(printed: try text(key)) else {
      throw problem(key, "is no time as an export writes it, such as 2026-11-21T14:00:05.205Z")
    }
    return time
  }

  private func place(_ key: String) -> String {
    path.isEmpty ? key.shortened : "\(path).\(key.shortened)"
  }

  private func wrong(_ key: StaticString, _ found: JSONPart, _ wanted: String) -> ImportProblem {
    problem(key, "is \(found.word), not \(wanted)")
  }
}

extension JSONPart {
  /// The name of the value's type, for a message.
  var word: String {
    switch kind {
    case .object: "an object"
    case .array: "a list"
    case .text: "a text"
    case .number: "a number"
    case .yes, .no: "true or false"
    case .null: "null"
    case .unreadable: "a value that cannot be decoded"
    }
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

/// A record as its line says it, with its frame's values in the journal.
///
/// The payload means the same as the line.
struct ImportRecord: Equatable, Sendable {
  let sequence: UInt64
  let kind: UInt8
  /// The number of the records of its batch that follow it.
  let remainingInBatch: UInt16
  let payload: [UInt8]

  var isSnapshot: Bool { kind == SessionRecord.snapshotKind }

  /// Reads the line of an event, a note, a snapshot or an entry of a newer version.
  ///
  /// `check` looks at what the lines before allow, before the payload is looked at.
  init(
    _ object: inout ImportObject, _ word: String, _ sequence: UInt64,
    check: (_ left: UInt16, _ isSnapshot: Bool) throws(ImportProblem) -> Void
  ) throws(ImportProblem) {
    let left: UInt16 = try object.number("remainingInBatch")
    let time = try object.time("time")
    let content = try ImportContent.read(&object, word)
    let payload = object.has("payload") ? try object.bytes("payload") : nil
    if object.has("dropped") { _ = try object.flag("dropped") }
    try object.finish()
    try check(left, content.kind == SessionRecord.snapshotKind)
    try self.init(
      SessionRecord(sequence: sequence, time: time, content: content), left, payload)
  }

  init(sequence: UInt64, kind: UInt8, remainingInBatch: UInt16, payload: [UInt8]) {
    self.sequence = sequence
    self.kind = kind
    self.remainingInBatch = remainingInBatch
    self.payload = payload
  }

  private init(_ record: SessionRecord, _ left: UInt16, _ payload: [UInt8]? = nil)
    throws(ImportProblem)
  {
    (sequence, kind, remainingInBatch) = (record.sequence, record.content.kind, left)
    self.payload = try ImportContent.payload(of: record, payload)
  }

  /// Returns the members of a line.
  static func object(_ tape: JSONTape) throws(ImportProblem) -> ImportObject {
    var object = try ImportObject(tape.root)
    let version: UInt64 = try object.number("v")
    guard version == 1 else {
      throw ImportProblem(
        .badLine, "it is of version \(version), and this tool reads version 1",
        next: "a newer version of sessionreplay")
    }
    return object
  }
}
