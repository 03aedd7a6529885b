/// A JSON value as it was written: members keep their order and numbers their digits.
package enum JSONTree: Equatable, Sendable {
  /// A key and its value.
  package struct Member: Equatable, Sendable {
    package let key: String
    package let value: JSONTree
  }

  case object([Member])
  case array([JSONTree])
  case text(String)
  /// The digits of a number, with its sign, fraction and exponent if it has them.
  case number(String)
  case flag(Bool)
  case null
  /// A value whose end is known but whose content cannot be decoded; strict rules refuse it.
  case unreadable(JSONValue.Fault)

  /// The name of the value's type, for a message.
  package var word: String {
    switch self {
    case .object: "an object"
    case .array: "a list"
    case .text: "a text"
    case .number: "a number"
    case .flag: "true or false"
    case .null: "null"
    case .unreadable: "a value that cannot be decoded"
    }
  }

  /// Why and where bytes are not JSON.
  package struct Problem: Error, Equatable, Sendable {
    /// The offset of the error, in bytes from the first one.
    package let offset: Int
    package let message: String
  }

  /// Parses one value (RFC 8259) that takes up all of the bytes.
  ///
  /// Two rules are stricter than RFC 8259. An object must not hold a key twice. Values are nested
  /// at most 32 deep. ``JSONReader`` is the tolerant way to read.
  package init(_ bytes: ArraySlice<UInt8>) throws(Problem) {
    var scanner = JSONScanner(bytes, .strict)
    self = try scanner.whole()
  }
}
