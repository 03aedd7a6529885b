/// A header field of a request or a response.
///
/// Descriptions show only its name.
public struct HTTPHeader: Hashable, Sendable {
  /// The name as it is written.
  ///
  /// Comparisons ignore case (RFC 9110 §5.1).
  public let name: String
  /// The value.
  public let value: String

  /// Creates a field.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// Returns whether this is the field with that name, ignoring case.
  public func isNamed(_ name: String) -> Bool {
    self.name.lowercased() == name.lowercased()
  }
}

extension HTTPHeader: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The name only.
  public var description: String { name }

  /// The name only.
  public var debugDescription: String { description }

  /// A mirror that shows the name only.
  public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension [HTTPHeader] {
  /// Returns the first value with that name, ignoring case, without the spaces around it.
  func value(of name: String) -> String? {
    guard let field = first(where: { $0.isNamed(name) }) else { return nil }
    let trimmed = field.value.drop(while: \.isWhitespace)
    return String(trimmed.reversed().drop(while: \.isWhitespace).reversed())
  }
}
