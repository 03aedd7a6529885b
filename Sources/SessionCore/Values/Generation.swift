/// Which token: a number that grows with each token the session gets.
///
/// It is how the journal, the tools and the docs name a token (`tok#7`) without knowing it.
/// Zero means that there has never been one.
public struct Generation: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number itself.
  public let number: UInt64

  /// Before the first token.
  public static let none = Generation(0)

  /// The generation with this number.
  public init(_ number: UInt64) {
    self.number = number
  }

  /// The generation of the token that comes next; saturates.
  public var next: Generation {
    Generation(number == .max ? .max : number + 1)
  }

  /// Whether the left token came before the right one.
  public static func < (left: Generation, right: Generation) -> Bool {
    left.number < right.number
  }

  /// `tok#7`.
  public var description: String { "tok#\(number)" }
}
