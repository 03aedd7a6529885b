@_spi(Internals) package import SessionCore

/// A backend that provides more than ``AuthBackend`` requires, such as that of SessionHTTP.
///
/// A backend that the app implements need not conform. It has the defaults of ``TokenReader`` and
/// ``CallDefaults``.
package protocol DetailedBackend: AuthBackend, TokenReader {
  /// Whether the backend itself ends each request after ``RequestContext/timeout``.
  var keepsTimeLimit: Bool { get }
  /// The defaults for the app's calls.
  var callDefaults: CallDefaults { get }
}

/// Reads tokens that do not come in a response of the backend: those of an identity SDK, and
/// adopted ones.
///
/// The defaults read claims by the names of OpenID Connect.
package protocol TokenReader: Sendable {
  /// Whether the backend can refresh tokens.
  var refreshesTokens: Bool { get }
  /// The claims that may name a user in addition to `sub`, in order.
  var userClaims: [UserClaim] { get }
  /// The lifetime of a token that does not state one, in milliseconds; `nil` if none is assumed.
  var assumedLifetime: Int64? { get }
  /// Returns the user whom the backend's own sources find in the claims; `nil` if they find no
  /// user.
  func user(access: JSONMembers?, identity: JSONMembers?) -> FoundUser?
  /// Returns the context that an access token claims; `nil` if it claims none.
  func context(claimedBy payload: JSONMembers) -> ActiveContext?
  /// Returns a sign-in's response, marked with the consequence of a missing refresh token.
  ///
  /// - Requirement: LOG-11
  func expectingRefreshToken(_ response: TokenResponse) -> TokenResponse
}

extension TokenReader {
  package var refreshesTokens: Bool { true }
  package var userClaims: [UserClaim] { [] }
  package var assumedLifetime: Int64? { nil }
  package func user(access: JSONMembers?, identity: JSONMembers?) -> FoundUser? { nil }
  package func context(claimedBy payload: JSONMembers) -> ActiveContext? { nil }

  /// Marks a missing refresh token.
  ///
  /// By default the consequence is a warning, not an error.
  package func expectingRefreshToken(_ response: TokenResponse) -> TokenResponse {
    guard response.refresh == nil else { return response }
    var response = response
    response.missingRefreshToken = "refresh_token"
    return response
  }
}

/// What a session knows of a request, in addition to the arguments of ``AuthBackend``.
///
/// The library's own backend reads it. It is a task-local value, so it is also available if an
/// app's backend passes a request on to the library's.
package struct RequestContext: Sendable {
  /// The time limit of the whole exchange, in milliseconds; `nil` for the transport's own limit.
  package var timeout: Int64?
  /// The lifetime of the previous token when it was issued, in milliseconds.
  package var lifetimeBefore: Int64?
  /// The session's access token, for a refresh that must carry it.
  package var access: Secret?
  /// The user to whom the response should belong.
  package var user: ExpectedUser?
  /// Reads the journal again and returns whether the request may still be sent; `nil` if no check
  /// is needed.
  ///
  /// - Requirement: REF-11
  package var mayLeave: (@Sendable () async -> Bool)?
  /// The session's clock.
  package var clock: any SessionClock = SystemClock()

  package init(timeout: Int64? = nil) { self.timeout = timeout }

  @TaskLocal package static var current = RequestContext()
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

extension TokenReader {
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
