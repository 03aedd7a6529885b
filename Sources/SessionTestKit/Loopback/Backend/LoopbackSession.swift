/// What the backend knows about one sign-in.
struct LoopbackSession: Sendable {
  let userID: String
  /// The position of the active context among the user's.
  var context = 0
  /// The refresh token that a refresh within the grace repeats.
  var refreshToken: String
  var hasEnded = false
}
