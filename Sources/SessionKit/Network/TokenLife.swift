@_spi(Internals) package import SessionCore

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
        throw Unreadable("\(word) cannot be measured: Date and iat are both missing")
      }
      throw Unreadable("\(word) is not after Date and iat")
    }
    return try bounded(Double(end.milliseconds(since: start)), word, "a time within ten years")
  }

  /// Rounds a number of milliseconds.
  ///
  /// Throws if it is out of bounds.
  package static func bounded(
    _ milliseconds: Double, _ name: String, _ must: String
  ) throws(Unreadable) -> Int64 {
    let whole = milliseconds.rounded()
    guard whole >= 1 else { throw Unreadable("\(name) is not above 0; it must be \(must)") }
    guard whole <= Double(TokenMetadata.unknownLifetime) else {
      throw Unreadable("\(name) is more than ten years; it must be \(must)")
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
