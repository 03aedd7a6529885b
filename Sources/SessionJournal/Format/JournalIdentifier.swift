/// The identity of a journal: a random UUID, assigned when the file is created.
///
/// Compaction keeps it, and a copy of the file shares it. Every new file has its own.
public struct JournalIdentifier: Hashable, Sendable, CustomStringConvertible {
  /// The first eight bytes of the UUID, in canonical order.
  public let high: UInt64

  /// The last eight bytes of the UUID, in canonical order.
  public let low: UInt64

  /// Creates an identifier from two halves; does not check version and variant bits.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Parses the 36 characters of a UUID, in either case; nil for anything else.
  public init?(_ text: String) {
    let characters = Array(text.utf8)
    guard characters.count == 36 else { return nil }
    var halves: (high: UInt64, low: UInt64) = (0, 0)
    var digits = 0
    for (place, character) in characters.enumerated() {
      if [8, 13, 18, 23].contains(place) {
        guard character == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let value = Self.value(ofDigit: character) else { return nil }
      if digits < 16 {
        halves.high = halves.high << 4 | value
      } else {
        halves.low = halves.low << 4 | value
      }
      digits += 1
    }
    self.init(high: halves.high, low: halves.low)
  }

  /// Returns a new random identifier: UUID version 4 (RFC 9562).
  public static func random() -> JournalIdentifier {
    var generator = SystemRandomNumberGenerator()
    let high: UInt64 = generator.next()
    let low: UInt64 = generator.next()
    return JournalIdentifier(
      high: high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000,
      low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
  }

  /// The canonical form: 36 characters, lowercase.
  public var description: String {
    var text = ""
    for place in 0..<32 {
      if [8, 12, 16, 20].contains(place) { text += "-" }
      let half = place < 16 ? high : low
      let digit = half >> UInt64(60 - 4 * (place % 16)) & 0xF
      text += String(digit, radix: 16)
    }
    return text
  }

  private static func value(ofDigit character: UInt8) -> UInt64? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(character - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(character - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(character - UInt8(ascii: "A") + 10)
    default: nil
    }
  }
}
