/// A JSON number as its text: no integer is rounded, and any size is allowed (RFC 8259 §6).
package struct JSONNumber: Hashable, Sendable {
  package let text: String

  /// Parses a JSON number; nil if the text is none.
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

  /// Creates a number from digits that are known to be one.
  package init(checked text: String) {
    self.text = text
  }

  /// The nearest double; infinite if the number is out of range.
  package var value: Double { Double(text) ?? .nan }

  /// The digits and the sign of a number without fraction and exponent; nil for any other.
  package var integer: String? {
    text.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: "-") } ? text : nil
  }
}
