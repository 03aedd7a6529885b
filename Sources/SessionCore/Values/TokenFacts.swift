/// What may be known and journaled about a token without the token (STO-3).
public struct TokenFacts: Hashable, Sendable {
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

  /// Milliseconds the token was given to live; never negative.
  public var lifetime: Int64 {
    max(0, expiresAt.milliseconds(since: issuedAt))
  }
}
