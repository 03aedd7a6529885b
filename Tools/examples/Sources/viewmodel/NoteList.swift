import SessionKit

/// Notes, and the user who asked for them.
struct NoteList: Sendable {
  var notes: [String] = []
  var owner: Identifier?

  /// What a screen shows in a state of the session: a user's own notes, and none while nobody is signed in.
  func shown(in state: SessionState) -> [String] {
    guard case .authenticated(let signedIn) = state, signedIn.user == owner else { return [] }
    return notes
  }
}
