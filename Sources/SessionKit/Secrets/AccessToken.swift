public import SessionCore

/// The token that a protected call carries, and which one it is.
public struct AccessToken: Hashable, Sendable, CustomStringConvertible {
  /// The token; shown nowhere.
  package let secret: Secret
  /// Which token.
  public let generation: Generation
  /// When it stops being good, on this device's clock; `Date(token.expiresAt)` is the date.
  public let expiresAt: Timestamp

  /// A token.
  public init(_ secret: Secret, generation: Generation, expiresAt: Timestamp) {
    self.secret = secret
    self.generation = generation
    self.expiresAt = expiresAt
  }

  /// The token's text: what follows `Bearer` in the `Authorization` field.
  ///
  /// - Requirement: STO-3
  public var plaintext: String { secret.plaintext }

  /// `tok#7, expires 2026-11-21T14:00:05.205Z`.
  public var description: String { "\(generation), expires \(expiresAt)" }
}
