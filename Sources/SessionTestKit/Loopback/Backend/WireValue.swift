import SessionJSON

/// A JSON value in a request or an answer; it can be written as a literal.
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
  /// A number with a fraction; infinities and NaN do not exist in JSON and are written as `null`.
  case double(Double)
  /// A string.
  case string(String)
  /// An array.
  case array([WireValue])
  /// An object; its members are written sorted by name, so that equal values are equal bytes.
  case object([String: WireValue])

  /// The value as JSON text in UTF-8 (RFC 8259).
  package var bytes: [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return Array(writer.bytes)
  }

  /// Writes the value, with the members of its objects sorted by name.
  func write(to writer: inout JSONWriter) {
    switch self {
    case .null: writer.value(JSONValue.null)
    case .bool(let value): writer.value(JSONValue.bool(value))
    case .int(let value): writer.value(value)
    case .double(let value):
      writer.value(
        value.isFinite ? JSONValue.number(JSONNumber(checked: "\(value)")) : JSONValue.null)
    case .string(let value): writer.value(value)
    case .array(let values): writer.array(values) { $1.write(to: &$0) }
    case .object(let members): writer.object(members) { $1.write(to: &$0) }
    }
  }

  /// Returns the strings of all members, at any depth, that have one of the given names.
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
  /// Creates a `null`.
  public init(nilLiteral: ()) { self = .null }

  /// Creates a Boolean value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }

  /// Creates a number without a fraction.
  public init(integerLiteral value: Int) { self = .int(value) }

  /// Creates a number with a fraction.
  public init(floatLiteral value: Double) { self = .double(value) }

  /// Creates a string.
  public init(stringLiteral value: String) { self = .string(value) }

  /// Creates an array.
  public init(arrayLiteral elements: WireValue...) { self = .array(elements) }

  /// Creates an object; if a name occurs twice, the last value is used.
  public init(dictionaryLiteral elements: (String, WireValue)...) {
    self = .object(Dictionary(elements) { _, last in last })
  }
}

/// The members that any EDU request may have; each endpoint checks which of them are required.
struct RequestBody {
  let email: String?
  let password: String?
  let refreshToken: String?
  let accessToken: String?
  let roleID: String?
  let schoolID: String?
  let unitID: String?

  /// Parses a JSON object; `nil` if the bytes are not one, or if a member is not a string.
  init?(_ bytes: [UInt8]) {
    let root: JSONPart
    do throws(JSONReader.Problem) { root = try JSONReader.node(bytes) } catch {
      // The caller answers 400, and the client needs to know no more.
      return nil
    }
    guard root.kind == .object else { return nil }
    var isComplete = true
    func text(_ name: String) -> String? {
      guard let member = root.member(name) else { return nil }
      if let text = member.text { return text }
      if member.kind != .null { isComplete = false }
      return nil
    }
    email = text("email")
    password = text("password")
    refreshToken = text("refresh_token")
    accessToken = text("access_token")
    roleID = text("role_id")
    schoolID = text("school_id")
    unitID = text("academic_unit_id")
    guard isComplete else { return nil }
  }

  var secrets: [String] {
    [email, password, refreshToken, accessToken].compactMap(\.self)
  }
}
