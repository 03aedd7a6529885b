/// The backend's record of one session.
struct LoopbackSession: Sendable {
  let userID: String
  /// The index of the active context in the user's contexts.
  var context = 0
  /// The current refresh token; a refresh with a replaced token within the grace returns it again.
  var refreshToken: String
  var hasEnded = false
}
