/// A reader of JSON (RFC 8259); if an object holds a name twice, the last one counts.
///
/// The structure is read strictly. A value that cannot be decoded does not fail the rest:
/// - A number of any size keeps its digits.
/// - A string that cannot be decoded is ``JSONValue/unreadable(_:)``. A member whose name cannot be
///   decoded is left out.
/// - An object or array that is nested too deeply is ``JSONValue/unreadable(_:)`` too.
package struct JSONReader {
  /// The place where the text stops being JSON; never its content.
  ///
  /// It is the number of bytes exactly if the text is a proper prefix of JSON.
  package struct Problem: Error, Hashable {
    package let offset: Int
  }

  static let deepest = JSONScanner.Rules.tolerant.deepest

  /// Parses the one value that these bytes are.
  package static func read(_ bytes: [UInt8]) throws(Problem) -> JSONValue {
    try read(bytes, after: mark(of: bytes))
  }

  /// Parses the one value that these bytes are, and makes values only of the parts that are used.
  package static func node(_ bytes: [UInt8]) throws(Problem) -> JSONNode {
    let mark = mark(of: bytes)
    var tape = JSONTape()
    // A tape holds what is read strictly, which is a part of what is read here.
    return tape.read(bytes[mark...]) ? .part(tape.root) : .value(try read(bytes, after: mark))
  }

  /// Returns the length of the mark of the byte order, which is no part of the text.
  private static func mark(of bytes: [UInt8]) -> Int {
    bytes.first == 0xEF && bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  private static func read(_ bytes: [UInt8], after mark: Int) throws(Problem) -> JSONValue {
    do throws(JSONTree.Problem) {
      var scanner = JSONScanner(bytes[mark...], .tolerant)
      return value(try scanner.whole())
    } catch {
      throw Problem(offset: mark + error.offset)
    }
  }

  private static func object(_ members: [JSONTree.Member]) -> [String: JSONValue] {
    var object = [String: JSONValue](minimumCapacity: members.count)
    for member in members { object[member.key] = value(member.value) }
    return object
  }

  private static func value(_ tree: JSONTree) -> JSONValue {
    switch tree {
    case .null: .null
    case .flag(let flag): .bool(flag)
    case .number(let digits): .number(JSONNumber(checked: digits))
    case .text(let text): .string(text)
    case .array(let elements): .array(elements.map(value))
    case .object(let members):
      .object(object(members))
    case .unreadable(let fault): .unreadable(fault)
    }
  }
}

/// A JSON value as it was written: members keep their order and numbers their digits.
package enum JSONTree: Equatable, Sendable {
  /// A key and its value.
  package struct Member: Equatable, Sendable {
    package let key: String
    package let value: JSONTree

    package init(key: String, value: JSONTree) {
      self.key = key
      self.value = value
    }
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

    package init(offset: Int, message: String) {
      self.offset = offset
      self.message = message
    }
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
