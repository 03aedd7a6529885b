/// The settings of a loopback server; they can change while it runs.
public struct LoopbackSettings: Sendable, Equatable {
  /// How long an access token is valid, at least 1 ms; one hour by default.
  ///
  /// A change applies to tokens that are issued later. The server checks expiry by the millisecond.
  /// `expires_in` is rounded to whole seconds, at least 1.
  public var accessTokenLifetime: Duration = .seconds(3600)

  /// How long a refresh token is valid after it was issued; `nil` (the default) means without
  /// limit.
  public var refreshTokenLifetime: Duration?

  /// Whether each refresh replaces the refresh token (as TIK and API do) or keeps it (EDU, the
  /// default).
  ///
  /// A context switch always issues a new refresh token.
  public var rotatesRefreshTokens = false

  /// How long a replaced refresh token is still accepted after its first replacement; 0 by default.
  ///
  /// Within this time the answer repeats the refresh token of the first answer.
  ///
  /// - Requirement: REF-7
  public var rotationGrace: Duration = .zero

  /// Whether a replaced refresh token ends the session if it arrives after its grace (RFC 9700
  /// §4.14).
  public var reuseEndsSession = false

  /// How far the server's clock is ahead of the true time; it affects `Date`, `iat`, `exp` and
  /// expiry.
  public var clockSkew: Duration = .zero

  /// Whether answers have a `Date` field, as those of a real server do.
  ///
  /// A session uses it to record the difference between the server's clock and its own.
  public var tellsTime = true

  /// How long each request waits, in real time, before the server acts on it; 0 by default.
  public var latency: Duration = .zero

  /// Whether connections stay open between requests; if `false`, answers have `Connection: close`.
  public var keepsConnections = true

  /// Creates the default settings.
  public init() {}
}
