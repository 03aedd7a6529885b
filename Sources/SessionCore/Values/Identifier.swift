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
      left.text.hasBytes(of: right.text)
    }

    func hash(into hasher: inout Hasher) {
      for byte in text.utf8 { hasher.combine(byte) }
    }
  }

  private let storage: Storage

  /// Creates the identifier with this spelling.
  public init(_ text: String) {
    var text = text
    if let (high, low) = text.withUTF8({ Identifier.parseUUID($0) }) {
      storage = .uuid(high: high, low: low)
    } else {
      storage = .text(Spelling(text: text))
    }
  }

  /// Creates the identifier with this spelling; makes no text of a UUID.
  package init(utf8: UnsafeBufferPointer<UInt8>) {
    if let (high, low) = Identifier.parseUUID(utf8) {
      storage = .uuid(high: high, low: low)
    } else {
      storage = .text(Spelling(text: String(decoding: utf8, as: UTF8.self)))
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

  /// Returns the bits of the UUID with this canonical spelling; `nil` for any other text.
  static func parseUUID(_ utf8: UnsafeBufferPointer<UInt8>) -> (UInt64, UInt64)? {
    guard utf8.count == canonicalLength else { return nil }
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
    let text = UnsafeMutableRawBufferPointer(buffer)
    func put(_ word: some FixedWidthInteger & BitwiseCopyable, at place: Int) {
      text.storeBytes(of: word.littleEndian, toByteOffset: place, as: type(of: word))
    }
    let (first, last) = (digits(high >> 32), digits(low & 0xFFFF_FFFF))
    let (second, third) = (digits(high & 0xFFFF_FFFF), digits(low >> 32))
    put(first, at: 0)
    put(UInt32(truncatingIfNeeded: second), at: 9)
    put(UInt32(truncatingIfNeeded: second >> 32), at: 14)
    put(UInt32(truncatingIfNeeded: third), at: 19)
    put(UInt32(truncatingIfNeeded: third >> 32), at: 24)
    put(last, at: 28)
    for place in [8, 13, 18, 23] { put(UInt8(ascii: "-"), at: place) }
  }

  /// Returns the eight hexadecimal digits of a number below 2^32, the first one lowest.
  private static func digits(_ number: UInt64) -> UInt64 {
    // Each digit gets a byte of its own.
    var word = (number | number << 16) & 0x0000_FFFF_0000_FFFF
    word = (word | word << 8) & 0x00FF_00FF_00FF_00FF
    word = (word | word << 4) & 0x0F0F_0F0F_0F0F_0F0F
    // 1 in each byte above 9, whose letters are 39 after the digits.
    let letters = (word &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    return (word &+ 0x3030_3030_3030_3030 &+ letters &* 39).byteSwapped
  }
}

extension Identifier: Codable {
  /// Decodes a single string.
  ///
  /// Throws `DecodingError` if there is no string, or if its bytes are not UTF-8. An encoded
  /// identifier is always decoded as the same one.
  public init(from decoder: any Decoder) throws {
    // A decoder refuses bytes that are not UTF-8. To replace them would make another user's
    // identifier.
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  /// Encodes the spelling as a single string.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
