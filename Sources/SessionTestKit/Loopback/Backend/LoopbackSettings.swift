/// The knobs of a loopback server; may be turned while it runs.
public struct LoopbackSettings: Sendable, Equatable {
  /// How long an access token is good, from 1 ms; default one hour, applies to tokens issued later.
  ///
  /// The server goes by the millisecond. `expires_in` is in whole seconds, rounded, at least 1.
  public var accessTokenLifetime: Duration = .seconds(3600)

  /// How long a refresh token is good, from when it was issued; nil (the default) for ever.
  public var refreshTokenLifetime: Duration?

  /// Whether each refresh replaces the refresh token (TIK, API) or keeps it (EDU, the default).
  public var rotatesRefreshTokens = false

  /// How long a replaced refresh token is still accepted, from the first replacement; default 0.
  ///
  /// Within it the answer repeats the successor that the first answer carried.
  ///
  /// - Requirement: REF-7
  public var rotationGrace: Duration = .zero

  /// Whether a replaced refresh token that comes after its grace ends the session (RFC 9700 §4.14).
  public var reuseEndsSession = false

  /// How far the server's clock is ahead of the true time, for `Date`, `iat`, `exp` and expiry.
  public var clockSkew: Duration = .zero

  /// Whether answers have a `Date`, as every server's should; a session notes how far its clock is off.
  public var tellsTime = true

  /// How long each request waits before the server acts on it, in real time; default 0.
  public var latency: Duration = .zero

  /// Whether connections stay open between requests; false announces `Connection: close`.
  public var keepsConnections = true

  /// Makes settings with the defaults.
  public init() {}
}
