@_spi(Internals) import SessionCore

/// A source of an access token's lifetime.
///
/// The device's clock does not matter: an instant is measured from the response's own `Date`.
public enum TokenLifetime: Hashable, Sendable {
  /// A member with a number of seconds, as a number or a text.
  case seconds(MemberPath)
  /// A member with a number of milliseconds, as a number or a text.
  case milliseconds(MemberPath)
  /// A member with the instant of expiry.
  ///
  /// It is RFC 3339, or a number since 1970: in seconds or, from 100,000,000,000 on, in
  /// milliseconds. The number may be a text.
  case instant(MemberPath)
  /// A claim of the access token with the instant of expiry in seconds since 1970, such as `exp`.
  case claim(String)
  /// A default lifetime, from 1 ms to ten years.
  ///
  /// No member is read.
  case assumed(Duration)

  /// No lifetime is stated.
  ///
  /// The token is valid until a call gets the status 401.
  ///
  /// Without a refresh token, the policy decides what follows (`ending.onRefusedToken`).
  ///
  /// - Requirement: POL-7
  public static let untold = TokenLifetime.assumed(.milliseconds(TokenMetadata.unknownLifetime))
}
