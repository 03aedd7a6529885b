/// A number as its text: an integer beyond 2⁵³ is not rounded, and any size is allowed (RFC 8259 §6).
package struct JSONNumber: Hashable, Sendable {
  package let text: String

  /// `nil` if the text is no JSON number.
  package init?(_ text: String) {
    do {
      guard case .number(let number) = try JSONReader.read(Array(text.utf8)),
        number.text == text
      else { return nil }
      self = number
    } catch {
      return nil
    }
  }

  /// Digits that the reader has checked.
  init(checked text: String) {
    self.text = text
  }

  /// The nearest double; infinite if the number is out of range.
  package var value: Double { Double(text) ?? .nan }

  /// The digits, with a sign where there is one, of a number without fraction and exponent.
  package var integer: String? {
    text.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: "-") } ? text : nil
  }
}
