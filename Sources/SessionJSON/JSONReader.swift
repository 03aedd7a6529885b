/// A reader of JSON (RFC 8259); if an object holds a name twice, the last one counts.
///
/// The structure is read strictly. A value that cannot be decoded does not fail the rest:
/// - A number keeps its digits, whatever its size.
/// - A string that cannot be decoded is ``JSONValue/unreadable(_:)``. A member whose name cannot be
///   decoded is left out.
/// - An object or array that is nested too deeply is ``JSONValue/unreadable(_:)`` too.
package struct JSONReader {
  /// The place where the text stops being JSON; never its content.
  package struct Problem: Error, Hashable {
    package let offset: Int
  }

  static let deepest = 64
  private let bytes: [UInt8]
  private var index = 0

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Parses the one value that these bytes are.
  package static func read(_ bytes: [UInt8]) throws(Problem) -> JSONValue {
    var reader = JSONReader(bytes)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.index = 3 }
    let value = try reader.value(depth: 0)
    reader.skipSpace()
    guard reader.index == bytes.count else { throw reader.problem }
    return value
  }

  private var problem: Problem { Problem(offset: index) }
  private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      index += 1
    }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  private mutating func value(depth: Int) throws(Problem) -> JSONValue {
    skipSpace()
    defer { skipSpace() }
    switch next {
    case UInt8(ascii: "{") where depth >= JSONReader.deepest,
      UInt8(ascii: "[") where depth >= JSONReader.deepest:
      try skipNested()
      return .unreadable(.depth)
    case UInt8(ascii: "{"): return try object(depth: depth + 1)
    case UInt8(ascii: "["): return try array(depth: depth + 1)
    case UInt8(ascii: "\""): return try string().map(JSONValue.string) ?? .unreadable(.text)
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return .number(try number())
    }
  }

  private mutating func word(_ word: String, _ value: JSONValue) throws(Problem) -> JSONValue {
    guard bytes[index...].starts(with: word.utf8) else { throw problem }
    index += word.utf8.count
    return value
  }

  private mutating func object(depth: Int) throws(Problem) -> JSONValue {
    var members: [String: JSONValue] = [:]
    index += 1
    skipSpace()
    if take("}") { return .object(members) }
    repeat {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw problem }
      let name = try string()
      skipSpace()
      guard take(":") else { throw problem }
      let value = try value(depth: depth)
      if let name { members[name] = value }
    } while take(",")
    guard take("}") else { throw problem }
    return .object(members)
  }

  private mutating func array(depth: Int) throws(Problem) -> JSONValue {
    var elements: [JSONValue] = []
    index += 1
    skipSpace()
    if take("]") { return .array(elements) }
    repeat { elements.append(try value(depth: depth)) } while take(",")
    guard take("]") else { throw problem }
    return .array(elements)
  }

  private mutating func number() throws(Problem) -> JSONNumber {
    let start = index
    _ = take("-")
    if !take("0") { try digits() }
    if take(".") { try digits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      try digits()
    }
    return JSONNumber(checked: String(decoding: bytes[start..<index], as: UTF8.self))
  }

  private mutating func digits() throws(Problem) {
    let start = index
    while let byte = next, (48...57).contains(byte) { index += 1 }
    guard index > start else { throw problem }
  }

  /// Parses a string; nil if it cannot be decoded, although its end is known.
  private mutating func string() throws(Problem) -> String? {
    let start = index + 1
    try skipString()
    return JSONText.decode(bytes[start..<(index - 1)])
  }

  /// Skips a string: it ends at the first quote without a backslash escape.
  private mutating func skipString() throws(Problem) {
    index += 1
    while let byte = next {
      index += 1
      if byte == UInt8(ascii: "\"") { return }
      if byte == UInt8(ascii: "\\"), next != nil { index += 1 }
    }
    throw problem
  }

  /// Skips an object or array without recursion; only strings and brackets matter.
  private mutating func skipNested() throws(Problem) {
    var closing: [UInt8] = []
    repeat {
      switch next {
      case nil: throw problem
      case UInt8(ascii: "\""):
        try skipString()
        continue
      case UInt8(ascii: "{"): closing.append(UInt8(ascii: "}"))
      case UInt8(ascii: "["): closing.append(UInt8(ascii: "]"))
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard closing.last == next else { throw problem }
        closing.removeLast()
      default: break
      }
      index += 1
    } while !closing.isEmpty
  }
}
