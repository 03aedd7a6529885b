@_spi(Internals) package import SessionCore

/// What a session may expect of a backend, in addition to its requests.
///
/// The default is right for most backends that an app implements. A backend that passes requests on
/// to another one returns that one's traits.
public struct BackendTraits: Sendable {
  /// Whether the backend can refresh tokens; `true` by default.
  ///
  /// Then a login whose response has no refresh token is reported.
  ///
  /// - Requirement: LOG-11
  public var refreshesTokens = true
  /// The path of the refresh token in a response, for the report that it is missing.
  package var refreshTokenPath = "refresh_token"
  /// Whether a login fails if its response has no refresh token.
  package var needsRefreshToken = false
  /// Whether the last identity token is kept, for a logout at the provider's page.
  package var keepsIdentityToken = false
  /// Whether the backend itself ends each request after ``RequestContext/timeout``, so that the session
  /// need not; `false` by default.
  public var keepsTimeLimit = false
  /// Proves that the session holds its tokens; `nil` if they are bearer tokens.
  package var proof: ProofOfPossession?
  /// The lifetime in milliseconds of a token of an identity SDK that states none; `nil` if none is
  /// assumed.
  package var assumedLifetime: Int64?
  /// The claims that may name a user in addition to `sub`, in order.
  package var userClaims: [UserClaim] = []
  /// Returns the user whom the backend's own sources find in the claims of an access token and of an
  /// identity token; `nil` if they find no user.
  package var user: @Sendable (JSONMembers?, JSONMembers?) -> FoundUser? = { _, _ in nil }
  /// Returns the context that the claims of an access token name; `nil` if they name none.
  package var context: @Sendable (JSONMembers) -> ActiveContext? = { _ in nil }
  /// Returns the defaults for the app's calls; `nil` for those of any backend.
  package var calls: (@Sendable () -> CallDefaults)?

  /// Creates the traits of a backend that refreshes tokens.
  public init() {}
}

/// The lifetime of a token in milliseconds, from 1 to ten years.
package enum TokenLife {
  /// Returns the lifetime from the later of the response's `Date` and the token's `iat` until its
  /// end.
  ///
  /// The token may have been issued a while ago. If `Date` is not before the end, the clock is
  /// wrong, and only `iat` counts.
  package static func claimed(
    until end: Timestamp, issued: Timestamp?, now: Timestamp?, _ name: String
  ) throws(Unreadable) -> Int64 {
    let word = "claim \(name) of the access token"
    let starts = [issued, now].compactMap(\.self).filter { $0 < end }
    guard let start = starts.max() else {
      guard issued != nil || now != nil else {
        throw Unreadable(
          "\(word) cannot be measured: Date and iat are both missing; \(deviceClockHint)")
      }
      throw Unreadable("\(word) is not after Date and iat")
    }
    return try bounded(Double(end.milliseconds(since: start)), word, "a time within ten years")
  }

  /// What an app can do about a server without `Date`, such as daphne 4.2.3, sanic 25.12.1,
  /// ejabberd 24.12 and snac2 2.75.
  package static let deviceClockHint =
    "set response.usesDeviceClock to measure it by this device's clock"

  /// Rounds a number of milliseconds.
  ///
  /// Throws if it is out of bounds.
  package static func bounded(
    _ milliseconds: Double, _ name: @autoclosure () -> String, _ must: String
  ) throws(Unreadable) -> Int64 {
    let whole = milliseconds.rounded()
    guard whole >= 1 else { throw Unreadable("\(name()) is not above 0; it must be \(must)") }
    guard whole <= Double(TokenMetadata.unknownLifetime) else {
      throw Unreadable("\(name()) is more than ten years; it must be \(must)")
    }
    return Int64(whole)
  }

  /// Returns the lifetime of the previous token, but at most a day.
  package static func asBefore(_ before: Int64) -> Int64 { min(max(1, before), 86_400_000) }
}

extension BackendTraits {
  /// Returns the lifetime from `now` of a token that an SDK returned.
  ///
  /// The first of these that is known counts:
  ///
  /// - the lifetime or time of expiry that the SDK states.
  /// - the token's own `exp`.
  /// - the default lifetime of the backend.
  /// - the lifetime of the previous token, but at most a day.
  func lifetime(
    said: Int64?, until end: Timestamp?, claims: JSONMembers?, at now: Timestamp, before: Int64?
  ) throws(Unreadable) -> Int64 {
    let must = "a time within ten years"
    if let said { return try TokenLife.bounded(Double(said), "the lifetime", must) }
    if let end {
      return try TokenLife.bounded(Double(end.milliseconds(since: now)), "expiresAt", must)
    }
    if let claims, let end = claims.time("exp") {
      return try TokenLife.claimed(until: end, issued: claims.time("iat"), now: now, "exp")
    }
    if let assumed = assumedLifetime ?? before.map(TokenLife.asBefore) { return assumed }
    throw Unreadable("the lifetime of the token is not known")
  }
}
