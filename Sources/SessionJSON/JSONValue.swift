/// A JSON value; numbers, booleans and strings are distinct.
package enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])
  /// A value whose end is known but whose content cannot be decoded; only using it fails.
  case unreadable(Fault)

  /// Why a value cannot be decoded.
  package enum Fault: Hashable, Sendable {
    /// Half of a surrogate pair, an escape that JSON does not have, a control character, or bytes
    /// that are not UTF-8.
    case text
    /// An object or array that is nested deeper than the reader allows.
    case depth
  }

  /// The name of the value's type, without its content.
  package var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    case .unreadable(.text): "a string that cannot be decoded"
    case .unreadable(.depth): "nested more than \(JSONTape.Rules.tolerant.deepest) deep"
    }
  }

  /// The value as JSON text with its members sorted by name; `null` for an unreadable value.
  package var text: String {
    var writer = JSONWriter()
    writer.value(self)
    return writer.text
  }

  /// Returns a text as JSON writes it, including the quotes.
  package static func quoted(_ text: String) -> String {
    var writer = JSONWriter()
    writer.value(text)
    return writer.text
  }
}

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
  package var value: Double {
    // Most numbers are whole. One of 15 digits is exact, and -0 is the only one with another sign.
    if text.utf8.count <= 15, let whole = Int64(text), whole != 0 { return Double(whole) }
    return Double(text) ?? .nan
  }

  /// The digits and the sign of a number without fraction and exponent; nil for any other.
  package var integer: String? {
    text.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: "-") } ? text : nil
  }
}
