/// Encodes `application/x-www-form-urlencoded`: every byte except letters, digits and `-._~` as
/// `%XX`.
package enum FormEncoding {
  package static func encode(_ text: String) -> String {
    text.utf8.reduce(into: "") { $0 += encode($1) { _ in false } }
  }

  /// Encodes one byte.
  ///
  /// It stays unchanged if it is unreserved or kept.
  package static func encode(_ byte: UInt8, keeping isKept: (UInt8) -> Bool) -> String {
    guard !isUnreserved(byte), !isKept(byte) else { return String(Unicode.Scalar(byte)) }
    let digits = Array("0123456789ABCDEF")
    return "%" + String([digits[Int(byte >> 4)], digits[Int(byte & 15)]])
  }

  /// Returns whether a byte is unreserved (RFC 3986 §2.3).
  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
