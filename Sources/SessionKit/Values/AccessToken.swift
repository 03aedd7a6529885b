public import Foundation
public import SessionCore

/// The access token for protected calls, with its generation and time of expiry.
public struct AccessToken: Hashable, Sendable, CustomStringConvertible {
  /// The token.
  ///
  /// No description shows it.
  package let secret: Secret
  /// The generation of the token.
  public let generation: Generation
  /// The time of expiry, by this device's clock.
  package let expiry: Timestamp
  /// Whether the server bound the token to the key of a ``ProofOfPossession``.
  ///
  /// Then it follows `DPoP` in the `Authorization` field, and each request needs a proof.
  ///
  /// - Requirement: INT-9
  public var isBound: Bool { boundKey != nil }
  /// The thumbprint of that key; `nil` for a bearer token.
  package internal(set) var boundKey: Identifier?

  /// Creates a token; the time of expiry is rounded to milliseconds.
  public init(_ secret: Secret, generation: Generation, expiresAt: Date) {
    self.init(secret, generation: generation, expiresAt: Timestamp(expiresAt))
  }

  package init(_ secret: Secret, generation: Generation, expiresAt: Timestamp) {
    (self.secret, self.generation, expiry) = (secret, generation, expiresAt)
  }

  /// The time of expiry, by this device's clock.
  public var expiresAt: Date { Date(expiry) }

  /// The token's text, which follows `Bearer` in the `Authorization` field.
  ///
  /// - Requirement: STO-3
  public var plaintext: String { secret.plaintext }

  /// The generation and the time of expiry, such as `tok#7, expires 2026-11-21T14:00:05.205Z`.
  public var description: String { "\(generation), expires \(expiry)" }
}

/// A secret text.
///
/// It is never printed, dumped, reflected or encoded.
///
/// Only ``plaintext`` returns the text.
///
/// - Requirement: STO-3
public struct Secret: Hashable, Sendable {
  /// The text itself.
  public let plaintext: String

  /// Wraps a text.
  public init(_ plaintext: String) {
    self.plaintext = plaintext
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Always `<redacted>`.
  public var description: String { "<redacted>" }

  /// Always `<redacted>`.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
