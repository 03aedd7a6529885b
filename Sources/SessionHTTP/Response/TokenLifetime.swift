@_spi(Internals) import SessionCore

/// Where it is said how long an access token is good.
///
/// The device's clock plays no part: an instant is measured from the answer's own `Date`.
public enum TokenLifetime: Hashable, Sendable {
  /// A member with a number of seconds, or a text of one.
  case seconds(MemberPath)
  /// A member with a number of milliseconds, or a text of one.
  case milliseconds(MemberPath)
  /// A member with the instant of expiry: ISO 8601 as RFC 3339 has it, or since 1970 in seconds or,
  /// from 100,000,000,000 on, in milliseconds, as a number or a text of one.
  case instant(MemberPath)
  /// A claim of the access token with the instant of expiry in seconds since 1970, such as `exp`.
  case claim(String)
  /// No response says it: this long, from 1 ms to ten years.
  case assumed(Duration)

  /// Nothing says it: the token is good until a call is answered 401.
  ///
  /// Without a refresh token, the policy decides what follows (`ending.onRefusedToken`).
  ///
  /// - Requirement: POL-7
  public static let untold = TokenLifetime.assumed(.milliseconds(TokenMetadata.unknownLifetime))
}
