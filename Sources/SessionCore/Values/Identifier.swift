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
    var (high, low, index): (UInt64, UInt64, Int) = (0, 0, 0)
    for byte in text.utf8 {
      defer { index += 1 }
      if index == 8 || index == 13 || index == 18 || index == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = hexDigit(byte) else { return nil }
      if index < 19 { high = high << 4 | digit } else { low = low << 4 | digit }
    }
    return (high, low)
  }

  private static func hexDigit(_ byte: UInt8) -> UInt64? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
    default: nil
    }
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
