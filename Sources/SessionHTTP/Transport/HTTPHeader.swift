/// One header field of a request or an answer; shown by its name only.
public struct HTTPHeader: Hashable, Sendable {
  /// The name, as it is written; compared without regard to case (RFC 9110 §5.1).
  public let name: String
  /// The value.
  public let value: String

  /// A field.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// Whether this is the field of that name, in whatever case.
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
  /// The first value under that name, in whatever case, without the spaces around it.
  func value(of name: String) -> String? {
    guard let field = first(where: { $0.isNamed(name) }) else { return nil }
    let trimmed = field.value.drop(while: \.isWhitespace)
    return String(trimmed.reversed().drop(while: \.isWhitespace).reversed())
  }
}
