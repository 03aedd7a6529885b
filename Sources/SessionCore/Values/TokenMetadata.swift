/// What may be known and journaled about a token without the token.
///
/// - Requirement: STO-3
public struct TokenMetadata: Hashable, Sendable {
  /// Which token.
  public let generation: Generation
  /// When its answer arrived, on this device's clock.
  public let issuedAt: Timestamp
  /// When it stops being good: arrival plus the lifetime that the server stated.
  public let expiresAt: Timestamp
  /// The token's own identifier (`jti`, RFC 7519 §4.1.7), where it has one.
  public let id: Identifier?
  /// Whether a refresh token is held with it.
  public let isRefreshable: Bool

  /// Facts about one token.
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

  /// The lifetime of a token of which nothing says how long it is good: ten years, in milliseconds.
  ///
  /// A stated lifetime of ten years or more counts as unknown.
  package static let unknownLifetime: Int64 = 10 * 366 * 86_400_000

  /// Whether the server or the configuration says how long the token is good.
  public var isLifetimeKnown: Bool { lifetimeMilliseconds < Self.unknownLifetime }

  /// How long the token is valid from its arrival, in whole milliseconds; never negative.
  public var lifetime: Duration { .milliseconds(lifetimeMilliseconds) }

  /// The same in milliseconds.
  package var lifetimeMilliseconds: Int64 {
    max(0, expiresAt.milliseconds(since: issuedAt))
  }
}
