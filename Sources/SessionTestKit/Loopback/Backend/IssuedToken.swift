/// An issued access or refresh token, with the number that identifies it in the list of calls.
struct IssuedToken: Sendable {
  let number: Int
  let session: Int
  /// The time of expiry in milliseconds since 1970; `nil` if it never expires.
  let expires: Int64?
  var isRevoked = false
  /// The time at which a rotation replaced it, in milliseconds since 1970; `nil` if it is current.
  var replaced: Int64?

  func hasExpired(at now: Int64) -> Bool {
    guard let expires else { return false }
    return now >= expires
  }
}
