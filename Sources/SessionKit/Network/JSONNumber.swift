/// A number as its text: an integer beyond 2⁵³ is not rounded.
package struct JSONNumber: Hashable, Sendable {
  package let text: String
  /// The nearest double; always finite.
  let value: Double

  /// `nil` where the text is no number or too great for a double.
  package init?(_ text: String) {
    guard let value = Double(text), value.isFinite else { return nil }
    (self.text, self.value) = (text, value)
  }

  /// The digits, with a sign where there is one, of a number without fraction and exponent.
  var integer: String? {
    text.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: "-") } ? text : nil
  }
}
