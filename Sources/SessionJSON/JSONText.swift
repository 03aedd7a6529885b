/// A decoder for the bytes between the quotes of a JSON string (RFC 8259 §7).
struct JSONText {
  private var rest: ArraySlice<UInt8>

  /// Returns the text; nil if the bytes cannot be decoded.
  ///
  /// They cannot if they hold half of a surrogate pair, an escape that JSON does not have or a
  /// control character, or are not UTF-8.
  static func decode(_ bytes: ArraySlice<UInt8>) -> String? {
    var decoder = JSONText(rest: bytes)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    while let byte = decoder.rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\\"):
        guard let scalar = decoder.escape() else { return nil }
        text.append(contentsOf: String(scalar).utf8)
      case 0..<0x20: return nil
      default: text.append(byte)
      }
    }
    return String(validating: text, as: UTF8.self)
  }

  private mutating func escape() -> Unicode.Scalar? {
    guard let byte = rest.popFirst() else { return nil }
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return scalar()
    default: return nil
    }
  }

  private mutating func scalar() -> Unicode.Scalar? {
    guard let first = codeUnit() else { return nil }
    guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
    guard rest.starts(with: Array("\\u".utf8)) else { return nil }
    rest.removeFirst(2)
    guard let second = codeUnit(), (0xDC00..<0xE000).contains(second) else { return nil }
    return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
  }

  private mutating func codeUnit() -> UInt32? {
    guard rest.count >= 4 else { return nil }
    var unit: UInt32 = 0
    for byte in rest.prefix(4) {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
      unit = unit << 4 | UInt32(digit)
    }
    rest.removeFirst(4)
    return unit
  }
}
