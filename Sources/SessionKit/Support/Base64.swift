/// Base64 (RFC 4648): encodes with the standard and the URL alphabet, and decodes the URL alphabet.
package enum Base64 {
  package static func encode(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      for place in 0..<4 {
        text.append(
          place <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)] : "=")
      }
    }
    return text
  }

  /// Encodes bytes as base64url (RFC 4648 §5), without padding.
  package static func encode(url bytes: [UInt8]) -> String {
    encode(bytes).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// Decodes base64url (RFC 4648 §5), with or without padding.
  ///
  /// Returns `nil` if the text is malformed.
  package static func decode(url text: Substring) -> [UInt8]? {
    var symbols = Array(text.utf8)
    let padding = symbols.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard padding == 0 || symbols.count % 4 == 0 && padding <= 2 else { return nil }
    symbols.removeLast(padding)
    guard symbols.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    var (pending, bits): (UInt32, Int) = (0, 0)
    for symbol in symbols {
      guard let digit = sixBits(symbol) else { return nil }
      pending = pending << 6 | digit
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
      }
    }
    return bytes
  }

  private static func sixBits(_ symbol: UInt8) -> UInt32? {
    switch symbol {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(symbol - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(symbol - UInt8(ascii: "a") + 26)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(symbol - UInt8(ascii: "0") + 52)
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
