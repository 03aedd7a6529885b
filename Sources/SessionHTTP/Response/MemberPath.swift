/// The path of a member, with names from the outermost to the innermost: `data.tokens.access`.
///
/// A step of digits is a name within an object, and an index from 0 within an array: `emails.0`.
public struct MemberPath: Hashable, Sendable {
  /// The names, the outermost first.
  public let steps: [String]

  /// The path of the object itself.
  public static let whole = MemberPath(steps: [])

  /// Creates a path of these names, which may contain dots.
  public init(steps: [String]) {
    self.steps = steps
  }

  /// Creates a path from names with dots between them.
  ///
  /// An empty text is the object itself.
  public init(_ text: String) {
    steps = text.split(separator: ".").map(String.init)
  }
}

extension MemberPath {
  /// The path as the name of a request's member: dots between the names, and `\.` for a dot in a
  /// name.
  var key: String {
    steps.map {
      $0.split(separator: ".", omittingEmptySubsequences: false).joined(separator: "\\.")
    }
    .joined(separator: ".")
  }
}

extension MemberPath: ExpressibleByStringLiteral, CustomStringConvertible {
  /// Creates a path from names with dots between them.
  public init(stringLiteral text: String) {
    self.init(text)
  }

  /// The names with dots between them, or `the body` for the object itself.
  public var description: String {
    steps.isEmpty ? "the body" : steps.joined(separator: ".")
  }
}
