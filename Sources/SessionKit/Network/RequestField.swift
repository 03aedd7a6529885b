import SessionJSON

/// A member of a request's body whose value never changes, such as `grant_type`; shown by its type.
public enum RequestField: Hashable, Sendable {
  /// A text.
  case text(String)
  /// A number; a whole one is written without a fraction, one that is none as `null`.
  case number(Double)
  /// Yes or no.
  case bool(Bool)

  /// As JSON writes it.
  package var json: String {
    switch self {
    case .text(let text): JSONValue.quoted(text)
    case .number, .bool: form
    }
  }

  /// As a form writes it, before it is encoded.
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
  /// A text.
  public init(stringLiteral text: String) { self = .text(text) }

  /// A whole number.
  public init(integerLiteral number: Int) { self = .number(Double(number)) }

  /// A number.
  public init(floatLiteral number: Double) { self = .number(number) }

  /// Yes or no.
  public init(booleanLiteral flag: Bool) { self = .bool(flag) }
}

extension RequestField: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// What it is, without what it holds: apps keep keys in such fields.
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
