import SessionKit

/// What the screen shows.
///
/// It is empty whenever no user is signed in. Otherwise it shows that user's notes and no other's.
struct NoteList: Equatable, Sendable {
  private(set) var notes: [String] = []
  private var owner: Identifier?

  init() {}

  /// Follows the session to this state.
  mutating func show(_ state: SessionState) {
    let user = state.kind == .authenticated ? state.user : nil
    if user != owner { notes = [] }
    owner = user
  }

  /// Shows a response, if the user who asked for it is signed in.
  mutating func show(_ notes: [String], askedBy user: Identifier) {
    if user == owner { self.notes = notes }
  }
}
