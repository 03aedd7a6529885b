/// The one parser of JSON (RFC 8259), which writes the entries of a ``JSONTape``.
struct JSONScanner {
  /// The number of members up to which keys are compared with each other without a set.
  private static let fewMembers = 32

  private let bytes: UnsafeBufferPointer<UInt8>
  private let rules: JSONTape.Rules
  private var place: Int
  var entries: [JSONTape.Entry] = []

  init(
    _ bytes: UnsafeBufferPointer<UInt8>, _ rules: JSONTape.Rules = .strict, from place: Int = 0
  ) {
    (self.bytes, self.rules, self.place) = (bytes, rules, place)
  }

  @inline(__always)
  private var isTolerant: Bool { rules == .tolerant }

  /// Reads one value that takes up all of the bytes.
  mutating func whole() throws(JSONTape.Problem) {
    if isTolerant, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
    try value(depth: 1)
    skipSpace()
    guard place == bytes.count else { throw problem("more bytes follow the value") }
  }

  private func problem(_ message: String) -> JSONTape.Problem {
    JSONTape.Problem(offset: place, message: message)
  }

  @inline(__always)
  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  @inline(__always)
  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
      place += 1
    }
  }

  @inline(__always)
  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }

  /// Adds the entry of a value that ends here.
  @inline(__always)
  private mutating func add(_ kind: JSONTape.Kind, from start: Int) {
    entries.append(
      JSONTape.Entry(kind: kind, start: start, end: place, next: entries.count + 1))
  }

  private mutating func value(depth: Int) throws(JSONTape.Problem) {
    guard isTolerant || depth <= rules.deepest else {
      throw problem("values are nested more than \(rules.deepest) deep")
    }
    skipSpace()
    switch next {
    case UInt8(ascii: "{") where depth > rules.deepest,
      UInt8(ascii: "[") where depth > rules.deepest:
      let start = place
      try skipNested()
      add(.unreadable, from: start)
    case UInt8(ascii: "{"): try object(depth)
    case UInt8(ascii: "["): try array(depth)
    case UInt8(ascii: "\""): try text()
    case UInt8(ascii: "t"): try word("true", .yes)
    case UInt8(ascii: "f"): try word("false", .no)
    case UInt8(ascii: "n"): try word("null", .null)
    case nil: throw problem("the text ends before a value")
    default: try number()
    }
  }

  private mutating func word(_ word: StaticString, _ kind: JSONTape.Kind) throws(JSONTape.Problem) {
    let start = place
    // A problem is at the first wrong byte, which is the end if the text ends within the word.
    place += word.withUTF8Buffer { zip($0, bytes[start...]).prefix { $0 == $1 }.count }
    guard place - start == word.utf8CodeUnitCount else {
      throw problem("no JSON value starts like this")
    }
    add(kind, from: start)
  }

  private mutating func object(_ depth: Int) throws(JSONTape.Problem) {
    let own = entries.count
    add(.object, from: place)
    place += 1
    skipSpace()
    var members = 0
    var keys: Set<[UInt8]> = []
    if !take("}") {
      repeat {
        skipSpace()
        let key = entries.count
        guard next == UInt8(ascii: "\"") else { throw problem("a key in quotes is expected here") }
        try text()
        if !isTolerant {
          guard isNew(key, of: own, members, &keys) else {
            let text = String(decoding: content(entries[key]), as: UTF8.self)
            throw problem("the key \"\(Self.shortened(text))\" occurs twice")
          }
          members += 1
        }
        skipSpace()
        guard take(":") else { throw problem("a colon is expected here") }
        try value(depth: depth + 1)
        if entries[key].kind == .unreadable { entries.removeSubrange(key...) }
        skipSpace()
      } while take(",")
      guard take("}") else { throw problem("a comma or } is expected here") }
    }
    (entries[own].end, entries[own].next) = (place, entries.count)
  }

  /// Whether no earlier member of the object has the key at this entry.
  ///
  /// Keys that differ in their bytes are two keys, even if Unicode calls them equivalent.
  private func isNew(_ key: Int, of object: Int, _ members: Int, _ keys: inout Set<[UInt8]>)
    -> Bool
  {
    var earlier = object + 1
    guard members >= Self.fewMembers else {
      while earlier < key {
        if isEqual(entries[earlier], entries[key]) { return false }
        earlier = entries[earlier + 1].next
      }
      return true
    }
    if keys.isEmpty {
      while earlier < key {
        keys.insert(content(entries[earlier]))
        earlier = entries[earlier + 1].next
      }
    }
    return keys.insert(content(entries[key])).inserted
  }

  @inline(__always)
  private func isEqual(_ one: JSONTape.Entry, _ other: JSONTape.Entry) -> Bool {
    guard !one.isEscaped, !other.isEscaped else { return content(one) == content(other) }
    return UnsafeBufferPointer(rebasing: bytes[one.start..<one.end])
      .isEqual(to: UnsafeBufferPointer(rebasing: bytes[other.start..<other.end]))
  }

  /// The bytes of a text, without its escapes.
  private func content(_ entry: JSONTape.Entry) -> [UInt8] {
    entry.isEscaped
      ? Array(Self.decoded(bytes, from: entry.start).utf8) : Array(bytes[entry.start..<entry.end])
  }

  /// Returns a key for a message, cut to 80 characters.
  private static func shortened(_ key: String) -> String {
    key.utf8.count <= 80 || key.count <= 80 ? key : key.prefix(79) + "…"
  }

  private mutating func array(_ depth: Int) throws(JSONTape.Problem) {
    let own = entries.count
    add(.array, from: place)
    place += 1
    skipSpace()
    if !take("]") {
      repeat {
        try value(depth: depth + 1)
        skipSpace()
      } while take(",")
      guard take("]") else { throw problem("a comma or ] is expected here") }
    }
    (entries[own].end, entries[own].next) = (place, entries.count)
  }

  private mutating func number() throws(JSONTape.Problem) {
    let start = place
    _ = take("-")
    guard isAtDigit else { throw problem("no JSON value starts like this") }
    if !take("0") {
      try digits()
    } else if isAtDigit {
      throw problem("a number must not have a leading zero")
    }
    if take(".") { try digits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      try digits()
    }
    add(.number, from: start)
  }

  @inline(__always)
  private mutating func digits() throws(JSONTape.Problem) {
    guard isAtDigit else { throw problem("a digit is expected here") }
    while isAtDigit { place += 1 }
  }

  @inline(__always)
  private var isAtDigit: Bool { next.map { (0x30...0x39).contains($0) } ?? false }
}

// MARK: Texts

extension JSONScanner {
  /// Returns the text that was read from this place, which is behind its first quote.
  static func decoded(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> String {
    var scanner = JSONScanner(bytes, from: start)
    // A text that cannot be decoded has another kind of entry.
    do throws(JSONTape.Problem) { return try scanner.decode() } catch { return "" }
  }

  private mutating func text() throws(JSONTape.Problem) {
    let quote = place
    let run = bytes.plainRun(from: quote + 1)
    place = run.end
    var isEscaped = false
    // Most texts have no escapes.
    let isPlain =
      next == UInt8(ascii: "\"")
      && (run.isASCII || String(validating: bytes[(quote + 1)..<place], as: UTF8.self) != nil)
    if !isPlain {
      place = quote + 1
      do throws(JSONTape.Problem) {
        _ = try decode()
      } catch {
        guard isTolerant else { throw error }
        place = quote
        try skipString()
        add(.unreadable, from: quote)
        return
      }
      (isEscaped, place) = (true, place - 1)
    }
    add(.text, from: quote + 1)
    entries[entries.count - 1].isEscaped = isEscaped
    entries[entries.count - 1].isASCII = run.isASCII
    place += 1
  }

  /// Decodes a text from the byte behind its first quote on, and passes the last one.
  private mutating func decode() throws(JSONTape.Problem) -> String {
    var utf8: [UInt8] = []
    while true {
      let end = bytes.plainRun(from: place).end
      utf8 += bytes[place..<end]
      place = end
      switch next {
      case UInt8(ascii: "\""):
        place += 1
        guard let text = String(validating: utf8, as: UTF8.self) else {
          throw problem("the string that ends here is not UTF-8")
        }
        return text
      case UInt8(ascii: "\\"):
        place += 1
        utf8 += UTF8.encode(try escape()) ?? .init()
      case nil: throw problem("the text ends inside a string")
      default: throw problem("a string contains an unescaped control character")
      }
    }
  }

  private mutating func escape() throws(JSONTape.Problem) -> Unicode.Scalar {
    guard let byte = next else { throw problem("the text ends inside a string") }
    place += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
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
  private mutating func scalar() throws(JSONTape.Problem) -> Unicode.Scalar {
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

  private mutating func unit() throws(JSONTape.Problem) -> UInt16 {
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
  private mutating func skipString() throws(JSONTape.Problem) {
    place += 1
    while let byte = next {
      place += 1
      if byte == UInt8(ascii: "\"") { return }
      if byte == UInt8(ascii: "\\"), next != nil { place += 1 }
    }
    throw problem("the text ends inside a string")
  }

  /// Skips an object or array without recursion; only strings and brackets matter.
  private mutating func skipNested() throws(JSONTape.Problem) {
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
