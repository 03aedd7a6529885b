/// The properties of a token that may be journaled; never the token itself.
///
/// - Requirement: STO-3
public struct TokenMetadata: Hashable, Sendable {
  /// The number of the token.
  public let generation: Generation
  /// When the response with the token arrived, on this device's clock.
  public let issuedAt: Timestamp
  /// When the token expires: its arrival plus the lifetime that the server stated.
  public let expiresAt: Timestamp
  /// The token's own identifier (`jti`, RFC 7519 §4.1.7), if it has one.
  public let id: Identifier?
  /// Whether a refresh token is held with it.
  public let isRefreshable: Bool

  /// Creates the metadata of a token.
  public init(
    generation: Generation, issuedAt: Timestamp, expiresAt: Timestamp, id: Identifier? = nil,
    isRefreshable: Bool
  ) {
    self.generation = generation
    self.issuedAt = issuedAt
    self.expiresAt = expiresAt
    self.id = id
    self.isRefreshable = isRefreshable
  }

  /// The lifetime of a token whose lifetime is unknown: ten years, in milliseconds.
  ///
  /// A stated lifetime of ten years or more counts as unknown.
  package static let unknownLifetime: Int64 = 10 * 366 * 86_400_000

  /// Whether the server or the configuration states the token's lifetime.
  public var isLifetimeKnown: Bool { lifetimeMilliseconds < Self.unknownLifetime }

  /// The time from the token's arrival to its expiry, in whole milliseconds; never negative.
  public var lifetime: Duration { .milliseconds(lifetimeMilliseconds) }

  /// The time from the token's arrival to its expiry, in milliseconds; never negative.
  package var lifetimeMilliseconds: Int64 {
    max(0, expiresAt.milliseconds(since: issuedAt))
  }
}

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
