import SessionKit

/// Notes, and the user who requested them.
struct NoteList: Sendable {
  var notes: [String] = []
  var owner: Identifier?

  /// Returns what a screen shows: the user's own notes, and none if no user is logged in.
  func shown(in state: SessionState) -> [String] {
    guard case .authenticated(let signedIn) = state, signedIn.user == owner else { return [] }
    return notes
  }
}
