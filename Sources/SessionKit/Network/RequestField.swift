import SessionJSON

/// A member of a request's body with a constant value, such as `grant_type`.
///
/// Descriptions show only its type.
public enum RequestField: Hashable, Sendable {
  /// A text.
  case text(String)
  /// A number.
  ///
  /// A whole number is written without a fraction, and one that is not finite as `null`.
  case number(Double)
  /// A truth value.
  case bool(Bool)

  /// The value as JSON.
  package var json: String {
    switch self {
    case .text(let text): JSONValue.quoted(text)
    case .number, .bool: form
    }
  }

  /// The value as text of a form, before it is encoded.
  package var form: String {
    switch self {
    case .text(let text): text
    case .number(let number):
      Int64(exactly: number).map(String.init) ?? (number.isFinite ? "\(number)" : "null")
    case .bool(let flag): flag ? "true" : "false"
    }
  }
}

extension RequestField: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
  /// Creates a text.
  public init(stringLiteral text: String) { self = .text(text) }

  /// Creates a whole number.
  public init(integerLiteral number: Int) { self = .number(Double(number)) }

  /// Creates a number.
  public init(floatLiteral number: Double) { self = .number(number) }

  /// Creates a truth value.
  public init(booleanLiteral flag: Bool) { self = .bool(flag) }
}

extension RequestField: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The type without the value, since apps keep keys in such fields.
  public var description: String {
    switch self {
    case .text: "a text"
    case .number: "a number"
    case .bool: "a boolean"
    }
  }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the type only.
  public var customMirror: Mirror { Mirror(self, children: ["field": description]) }
}
