/// One issued token, access or refresh, under the number that calls are told apart by.
struct IssuedToken: Sendable {
  let number: Int
  let session: Int
  /// Milliseconds since 1970; nil for never.
  let expires: Int64?
  var isRevoked = false
  /// When a rotation replaced it, in milliseconds since 1970.
  var replaced: Int64?

  func hasExpired(at now: Int64) -> Bool {
    guard let expires else { return false }
    return now >= expires
  }
}
