/// Reads JSON (RFC 8259) strictly, with a bound on nesting; of equal names the last counts.
package struct JSONReader {
  /// Where the text stops being JSON; never what is there.
  package struct Problem: Error, Hashable {
    package let offset: Int
  }

  private static let deepest = 64
  private let bytes: [UInt8]
  private var index = 0

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The one value that these bytes are.
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
    guard depth < JSONReader.deepest else { throw problem }
    skipSpace()
    defer { skipSpace() }
    switch next {
    case UInt8(ascii: "{"): return try object(depth: depth + 1)
    case UInt8(ascii: "["): return try array(depth: depth + 1)
    case UInt8(ascii: "\""): return .string(try string())
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
      members[name] = try value(depth: depth)
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
    guard let number = JSONNumber(String(decoding: bytes[start..<index], as: UTF8.self)) else {
      throw Problem(offset: start)
    }
    return number
  }

  private mutating func digits() throws(Problem) {
    let start = index
    while let byte = next, (48...57).contains(byte) { index += 1 }
    guard index > start else { throw problem }
  }

  private mutating func string() throws(Problem) -> String {
    let start = index
    var text: [UInt8] = []
    index += 1
    while let byte = next {
      index += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let string = String(validating: text, as: UTF8.self) else {
          throw Problem(offset: start)
        }
        return string
      case UInt8(ascii: "\\"): text.append(contentsOf: String(try escape()).utf8)
      case 0..<0x20: throw problem
      default: text.append(byte)
      }
    }
    throw problem
  }

  private mutating func escape() throws(Problem) -> Unicode.Scalar {
    guard let byte = next else { throw problem }
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw problem
    }
    var code = try codeUnit()
    if (0xD800..<0xDC00).contains(code), take("\\"), take("u") {
      let low = try codeUnit()
      guard (0xDC00..<0xE000).contains(low) else { throw problem }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw problem }
    return scalar
  }

  private mutating func codeUnit() throws(Problem) -> UInt32 {
    guard index + 4 <= bytes.count else { throw problem }
    var unit: UInt32 = 0
    for byte in bytes[index..<(index + 4)] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw problem }
      unit = unit << 4 | UInt32(digit)
    }
    index += 4
    return unit
  }
}
