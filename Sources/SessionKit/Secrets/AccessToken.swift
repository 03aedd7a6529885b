public import SessionCore

/// The token that a protected call carries, and which one it is.
public struct AccessToken: Hashable, Sendable, CustomStringConvertible {
  /// What stands behind `Bearer` in the `Authorization` field.
  public let value: Secret
  /// Which token.
  public let generation: Generation
  /// When it stops being good, on this device's clock; `Date(token.expiresAt)` is the date.
  public let expiresAt: Timestamp

  /// A token.
  public init(value: Secret, generation: Generation, expiresAt: Timestamp) {
    self.value = value
    self.generation = generation
    self.expiresAt = expiresAt
  }

  /// `tok#7, expires 2026-11-21T14:00:05.205Z`.
  public var description: String { "\(generation), expires \(expiresAt)" }
}
