/// Finds addresses within a text.
enum EmbeddedAddress {
  /// Returns the words that contain `://` and a query or a fragment, without punctuation at their
  /// ends.
  static func addresses(in bytes: [UInt8]) -> [String] {
    bytes.split(whereSeparator: isOutside).compactMap { word in
      var word = word
      while let last = word.last, ".,;:".utf8.contains(last) { word.removeLast() }
      guard word.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }),
        let colon = word.firstIndex(of: UInt8(ascii: ":")), word[colon...].starts(with: "://".utf8)
      else { return nil }
      return String(decoding: word, as: UTF8.self)
    }
  }

  /// Returns whether a byte cannot be part of an address: a space, a quote, a bracket or an escape.
  private static func isOutside(_ byte: UInt8) -> Bool {
    switch byte {
    case 0...0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"),
      UInt8(ascii: "\\"),
      UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "("), UInt8(ascii: ")"),
      UInt8(ascii: "{"), UInt8(ascii: "}"):
      true
    default: false
    }
  }
}
