/// An identifier that a server chose: of a user, a role, a school or a token.
///
/// A canonical lower-case UUID is stored in 16 bytes, any other text as it is. So `description`
/// always returns exactly the original text.
public struct Identifier: Hashable, Sendable {
  private enum Storage: Hashable, Sendable {
    case uuid(high: UInt64, low: UInt64)
    case text(Spelling)
  }

  /// A text that equals only texts with the same bytes.
  ///
  /// `String` treats canonically equivalent spellings as equal; a server may not.
  private struct Spelling: Hashable, Sendable {
    let text: String

    static func == (left: Spelling, right: Spelling) -> Bool {
      left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
      for byte in text.utf8 { hasher.combine(byte) }
    }
  }

  private let storage: Storage

  /// Creates the identifier with this spelling.
  public init(_ text: String) {
    if let (high, low) = Identifier.parseUUID(text) {
      storage = .uuid(high: high, low: low)
    } else {
      storage = .text(Spelling(text: text))
    }
  }

  /// Creates the identifier of a UUID with these bits, most significant first.
  public init(uuidHigh high: UInt64, low: UInt64) {
    storage = .uuid(high: high, low: low)
  }

  /// The bits of the UUID; `nil` if the identifier is other text.
  public var uuid: (high: UInt64, low: UInt64)? {
    guard case .uuid(let high, let low) = storage else { return nil }
    return (high, low)
  }

  private static func parseUUID(_ text: String) -> (UInt64, UInt64)? {
    guard text.utf8.count == 36 else { return nil }
    var text = text
    return text.withUTF8 { utf8 in
      let dash = UInt8(ascii: "-")
      guard utf8[8] == dash, utf8[13] == dash, utf8[18] == dash, utf8[23] == dash else {
        return nil
      }
      var invalid: UInt64 = 0
      func digits(_ places: Range<Int>) -> UInt64 {
        var number: UInt64 = 0
        for place in places {
          let digit = hexDigit(utf8[place])
          invalid |= digit
          number = number << 4 | digit & 0xF
        }
        return number
      }
      let high = digits(0..<8) << 32 | digits(9..<13) << 16 | digits(14..<18)
      let low = digits(19..<23) << 48 | digits(24..<36)
      return invalid > 0xF ? nil : (high, low)
    }
  }

  /// Returns the value of a lower-case digit; 16 for any other byte.
  private static func hexDigit(_ byte: UInt8) -> UInt64 {
    let (number, letter) = (byte &- UInt8(ascii: "0"), byte &- UInt8(ascii: "a"))
    return number < 10 ? UInt64(number) : letter < 6 ? UInt64(letter) + 10 : 16
  }
}

extension Identifier: CustomStringConvertible, ExpressibleByStringLiteral {
  /// The identifier as the server spelled it.
  public var description: String {
    switch storage {
    case .text(let spelling): spelling.text
    case .uuid(let high, let low): Identifier.canonical(high, low)
    }
  }

  /// The length of the spelling in UTF-8, in bytes.
  package var byteCount: Int {
    switch storage {
    case .text(let spelling): spelling.text.utf8.count
    case .uuid: Identifier.canonicalLength
    }
  }

  /// Creates the identifier with this spelling.
  public init(stringLiteral text: String) {
    self.init(text)
  }

  private static func canonical(_ high: UInt64, _ low: UInt64) -> String {
    String(unsafeUninitializedCapacity: canonicalLength) { buffer in
      writeCanonical(high, low, into: buffer)
      return canonicalLength
    }
  }

  /// The length of the canonical spelling of a UUID, in bytes.
  package static var canonicalLength: Int { 36 }

  /// Writes the canonical spelling of the UUID with these bits, most significant first.
  ///
  /// - Parameter buffer: Memory for `canonicalLength` bytes.
  package static func writeCanonical(
    _ high: UInt64, _ low: UInt64, into buffer: UnsafeMutableBufferPointer<UInt8>
  ) {
    let digits: StaticString = "0123456789abcdef"
    var place = 0
    for byte in 0..<16 {
      if byte == 4 || byte == 6 || byte == 8 || byte == 10 {
        buffer[place] = UInt8(ascii: "-")
        place += 1
      }
      let word = byte < 8 ? high : low
      let value = Int(truncatingIfNeeded: word >> UInt64((7 - byte % 8) * 8) & 0xFF)
      buffer[place] = digits.utf8Start[value >> 4]
      buffer[place + 1] = digits.utf8Start[value & 0xF]
      place += 2
    }
  }
}

extension Identifier: Codable {
  /// Decodes a single string.
  ///
  /// Throws `DecodingError` if there is no string, or if its bytes are not UTF-8. An encoded
  /// identifier is always decoded as the same one.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  /// Encodes the spelling as a single string.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
