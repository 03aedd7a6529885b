/// Where a member is, by names from the outside in: `data.tokens.access`.
///
/// A step of digits is a name within an object, and a place, from 0, within an array: `emails.0`.
public struct MemberPath: Hashable, Sendable {
  /// The names, the outermost first.
  public let steps: [String]

  /// The object itself, whose members lie bare.
  public static let whole = MemberPath(steps: [])

  /// A path of these names, which may have dots in them.
  public init(steps: [String]) {
    self.steps = steps
  }

  /// The path that is written with dots; of an empty text, the object itself.
  public init(_ text: String) {
    steps = text.split(separator: ".").map(String.init)
  }
}

extension MemberPath {
  /// The path as a member of a request is named: dots between the names, `\.` for a dot in one.
  var key: String {
    steps.map {
      $0.split(separator: ".", omittingEmptySubsequences: false).joined(separator: "\\.")
    }
    .joined(separator: ".")
  }
}

extension MemberPath: ExpressibleByStringLiteral, CustomStringConvertible {
  /// The path that is written with dots.
  public init(stringLiteral text: String) {
    self.init(text)
  }

  /// The names with dots between them, or `the body` for the object itself.
  public var description: String {
    steps.isEmpty ? "the body" : steps.joined(separator: ".")
  }
}
