/// A JSON value as it goes over the wire; literals make one.
///
/// ```swift
/// .patch(["expires_in": "soon", "access_token": "only.two", "token_type": nil])
/// ```
public enum WireValue: Sendable, Equatable {
  /// JSON `null`.
  case null
  /// JSON `true` or `false`.
  case bool(Bool)
  /// A number without a fraction.
  case int(Int)
  /// A number with a fraction; infinities and NaN, which JSON lacks, are written as `null`.
  case double(Double)
  /// A text.
  case string(String)
  /// A list.
  case array([WireValue])
  /// Members by name; written in the order of their names, so that equal values are equal bytes.
  case object([String: WireValue])

  /// The value as JSON text in UTF-8 (RFC 8259).
  package var bytes: [UInt8] { Array(text.utf8) }

  private var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .int(let value): String(value)
    case .double(let value): value.isFinite ? "\(value)" : "null"
    case .string(let value): Self.quoted(value)
    case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{"
        + members.sorted { $0.key < $1.key }
        .map { Self.quoted($0.key) + ":" + $0.value.text }
        .joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\u{0}"..<"\u{20}":
        let hex = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  /// The texts of every member, at any depth, whose name is among those given.
  func texts(named names: Set<String>) -> [String] {
    switch self {
    case .null, .bool, .int, .double, .string: []
    case .array(let values): values.flatMap { $0.texts(named: names) }
    case .object(let members):
      members.flatMap { name, value in
        if case .string(let text) = value, names.contains(name) { return [text] }
        return value.texts(named: names)
      }
    }
  }
}

extension WireValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Makes a `null`.
  public init(nilLiteral: ()) { self = .null }

  /// Makes a truth value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }

  /// Makes a whole number.
  public init(integerLiteral value: Int) { self = .int(value) }

  /// Makes a number with a fraction.
  public init(floatLiteral value: Double) { self = .double(value) }

  /// Makes a text.
  public init(stringLiteral value: String) { self = .string(value) }

  /// Makes a list.
  public init(arrayLiteral elements: WireValue...) { self = .array(elements) }

  /// Makes an object; of a name that comes twice the last value wins.
  public init(dictionaryLiteral elements: (String, WireValue)...) {
    self = .object(Dictionary(elements) { _, last in last })
  }
}
