/// The number of a token, which grows with each token that the session gets.
///
/// The journal, the tools and the docs use it to name a token (`tok#7`) without knowing the token.
/// Zero means that there has never been one.
public struct Generation: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number of the token.
  public let number: UInt64

  /// The generation before the first token.
  public static let none = Generation(0)

  /// Creates the generation with this number.
  public init(_ number: UInt64) {
    self.number = number
  }

  /// The generation of the next token; saturates.
  public var next: Generation {
    Generation(number == .max ? .max : number + 1)
  }

  /// Whether the left token is older than the right one.
  public static func < (left: Generation, right: Generation) -> Bool {
    left.number < right.number
  }

  /// The generation as text: `tok#7`.
  public var description: String { "tok#\(number)" }
}
