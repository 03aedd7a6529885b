/// The one parser of JSON (RFC 8259), for bytes that are one value.
struct JSONScanner {
  /// The way in which the parser handles what RFC 8259 leaves to it.
  enum Rules {
    /// An object must not hold a key twice, and a value that cannot be decoded is an error.
    case strict
    /// A value that cannot be decoded is ``JSONTree/unreadable(_:)``. A member whose key cannot be
    /// decoded is left out.
    case tolerant

    /// The depth that values may have.
    var deepest: Int {
      switch self {
      case .strict: 32
      case .tolerant: 64
      }
    }
  }

  private let bytes: ArraySlice<UInt8>
  private let rules: Rules
  private var place: Int

  init(_ bytes: ArraySlice<UInt8>, _ rules: Rules) {
    self.bytes = bytes
    self.rules = rules
    place = bytes.startIndex
  }

  private var isTolerant: Bool { rules == .tolerant }

  mutating func whole() throws(JSONTree.Problem) -> JSONTree {
    let value = try value(depth: 1)
    skipSpace()
    guard place == bytes.endIndex else { throw problem("more bytes follow the value") }
    return value
  }

  private var next: UInt8? { place < bytes.endIndex ? bytes[place] : nil }

  private func problem(_ message: String) -> JSONTree.Problem {
    JSONTree.Problem(offset: place - bytes.startIndex, message: message)
  }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
      place += 1
    }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }

  private mutating func value(depth: Int) throws(JSONTree.Problem) -> JSONTree {
    guard isTolerant || depth <= rules.deepest else {
      throw problem("values are nested more than \(rules.deepest) deep")
    }
    skipSpace()
    switch next {
    case UInt8(ascii: "{") where depth > rules.deepest,
      UInt8(ascii: "[") where depth > rules.deepest:
      try skipNested()
      return .unreadable(.depth)
    case UInt8(ascii: "{"): return try object(depth)
    case UInt8(ascii: "["): return try array(depth)
    case UInt8(ascii: "\""): return try text().map(JSONTree.text) ?? .unreadable(.text)
    case UInt8(ascii: "t"): return try word("true", .flag(true))
    case UInt8(ascii: "f"): return try word("false", .flag(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case nil: throw problem("the text ends before a value")
    default: return try number()
    }
  }

  private mutating func word(_ word: StaticString, _ value: JSONTree) throws(JSONTree.Problem)
    -> JSONTree
  {
    let same = word.withUTF8Buffer { zip($0, bytes[place...]).prefix { $0 == $1 }.count }
    // A problem is at the first wrong byte, which is the end if the text ends within the word.
    place += same
    guard same == word.utf8CodeUnitCount else {
      throw problem("no JSON value starts like this")
    }
    return value
  }

  private mutating func object(_ depth: Int) throws(JSONTree.Problem) -> JSONTree {
    place += 1
    var members: [JSONTree.Member] = []
    skipSpace()
    if take("}") { return .object(members) }
    // Keys that differ in their bytes are two keys, even if Unicode calls them equivalent.
    var keys: Set<[UInt8]> = []
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw problem("a key in quotes is expected here") }
      let key = try text()
      if !isTolerant, let key, !keys.insert(Array(key.utf8)).inserted {
        throw problem("the key \"\(Self.shortened(key))\" occurs twice")
      }
      skipSpace()
      guard take(":") else { throw problem("a colon is expected here") }
      let value = try value(depth: depth + 1)
      if let key { members.append(JSONTree.Member(key: key, value: value)) }
      skipSpace()
      if take("}") { return .object(members) }
      guard take(",") else { throw problem("a comma or } is expected here") }
    }
  }

  /// Returns a key for a message, cut to 80 characters.
  private static func shortened(_ key: String) -> String {
    key.utf8.count <= 80 || key.count <= 80 ? key : key.prefix(79) + "…"
  }

  private mutating func array(_ depth: Int) throws(JSONTree.Problem) -> JSONTree {
    place += 1
    var elements: [JSONTree] = []
    skipSpace()
    if take("]") { return .array(elements) }
    while true {
      elements.append(try value(depth: depth + 1))
      skipSpace()
      if take("]") { return .array(elements) }
      guard take(",") else { throw problem("a comma or ] is expected here") }
    }
  }

  private mutating func number() throws(JSONTree.Problem) -> JSONTree {
    let start = place
    _ = take("-")
    guard let first = next, isDigit(first) else { throw problem("no JSON value starts like this") }
    if !take("0") {
      try digits()
    } else if let second = next, isDigit(second) {
      throw problem("a number must not have a leading zero")
    }
    if take(".") { try digits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      try digits()
    }
    return .number(String(decoding: bytes[start..<place], as: UTF8.self))
  }

  private mutating func digits() throws(JSONTree.Problem) {
    guard let first = next, isDigit(first) else { throw problem("a digit is expected here") }
    while let byte = next, isDigit(byte) { place += 1 }
  }

  private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// Parses a string; `nil` if the rules tolerate that it cannot be decoded.
  private mutating func text() throws(JSONTree.Problem) -> String? {
    let start = place
    do throws(JSONTree.Problem) {
      return try decodedText()
    } catch {
      guard isTolerant else { throw error }
      place = start
      try skipString()
      return nil
    }
  }

  private mutating func decodedText() throws(JSONTree.Problem) -> String {
    place += 1
    var start = place
    let run = bytes.withUnsafeBufferPointer { $0.plainRun(from: start - bytes.startIndex) }
    place = bytes.startIndex + run.end
    // Most texts have no escapes and only ASCII.
    if run.isASCII, next == UInt8(ascii: "\"") {
      place += 1
      return String(decoding: bytes[start..<place - 1], as: UTF8.self)
    }
    var utf8: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        utf8 += bytes[start..<place]
        place += 1
        guard let text = String(validating: utf8, as: UTF8.self) else {
          throw problem("the string that ends here is not UTF-8")
        }
        return text
      case UInt8(ascii: "\\"):
        utf8 += bytes[start..<place]
        place += 1
        utf8 += try escape().utf8Bytes
        start = place
      case ..<0x20: throw problem("a string contains an unescaped control character")
      default: place += 1
      }
    }
    throw problem("the text ends inside a string")
  }

  private mutating func escape() throws(JSONTree.Problem) -> Unicode.Scalar {
    guard let byte = next else { throw problem("the text ends inside a string") }
    place += 1
    switch byte {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try scalar()
    default: throw problem("the escape sequence is unknown")
    }
  }

  /// Parses the four digits of an escaped scalar, or its two UTF-16 halves.
  private mutating func scalar() throws(JSONTree.Problem) -> Unicode.Scalar {
    let first = try unit()
    if let scalar = Unicode.Scalar(UInt32(first)) { return scalar }
    guard (0xD800...0xDBFF).contains(first), take("\\"), take("u") else {
      throw problem("the escape is an unpaired surrogate")
    }
    let second = try unit()
    let number = 0x1_0000 + (UInt32(first) - 0xD800) << 10 + UInt32(second & 0x3FF)
    guard (0xDC00...0xDFFF).contains(second), let scalar = Unicode.Scalar(number) else {
      throw problem("the escape is an unpaired surrogate")
    }
    return scalar
  }

  private mutating func unit() throws(JSONTree.Problem) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = next.flatMap(hexadecimalDigit) else {
        throw problem("four hexadecimal digits are expected here")
      }
      unit = unit << 4 | UInt16(digit)
      place += 1
    }
    return unit
  }

  /// Skips a string: it ends at the first quote without a backslash escape.
  private mutating func skipString() throws(JSONTree.Problem) {
    place += 1
    while let byte = next {
      place += 1
      if byte == UInt8(ascii: "\"") { return }
      if byte == UInt8(ascii: "\\"), next != nil { place += 1 }
    }
    throw problem("the text ends inside a string")
  }

  /// Skips an object or array without recursion; only strings and brackets matter.
  private mutating func skipNested() throws(JSONTree.Problem) {
    var closing: [UInt8] = []
    repeat {
      switch next {
      case nil: throw problem("the text ends inside a value")
      case UInt8(ascii: "\""):
        try skipString()
        continue
      case UInt8(ascii: "{"): closing.append(UInt8(ascii: "}"))
      case UInt8(ascii: "["): closing.append(UInt8(ascii: "]"))
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard closing.last == next else { throw problem("another bracket is expected here") }
        closing.removeLast()
      default: break
      }
      place += 1
    } while !closing.isEmpty
  }
}

/// Returns the value of a hexadecimal digit, in either case.
package func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  default: nil
  }
}

extension Unicode.Scalar {
  fileprivate var utf8Bytes: [UInt8] { Array(UTF8.encode(self) ?? .init()) }
}
