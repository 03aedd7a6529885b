import SessionJournal

/// The owner of stored items that name another journal than ours.
enum SecretsOwner: Equatable, Sendable {
  // Two accounts were given one place for their secrets by mistake. The items of the first counted
  // as stray, so opening the second wiped its tokens, and it ended with "a stored secret is
  // missing". Therefore an owner whose journal exists or cannot be read is left alone. The
  // identifier says whose the items are, and the path is only where to search first, since a system
  // moves a container with all that is in it.

  /// There is no other owner: there are no items, they are ours, or they name our own path.
  case none
  /// The session of another journal, which is at this path.
  case current(String)
  /// The journal of this path is proven to be gone.
  ///
  /// - Requirement: RES-7
  case gone(String)
  /// Another journal is now at the path.
  case replaced(String)
  /// Another journal was at our path while ours was missing, and ours has not taken its token back.
  ///
  /// - Requirement: RES-7
  case hidden(String)
  /// The journal of this path cannot be read now.
  case unknown(String, JournalError)
  /// The items cannot be read now.
  case unread(SecretStoreError)

  /// Why the items must not be touched; `nil` if they may be.
  var refusal: SessionError? {
    switch self {
    case .none, .gone, .replaced: nil
    case .current(let path): .secretsOfAnotherSession(journal: path)
    case .hidden(let path): .secretsOwnerUnreadable(journal: path, problem: .missing(path: path))
    case .unknown(let path, let problem): .secretsOwnerUnreadable(journal: path, problem: problem)
    case .unread(let problem): .secrets(problem)
    }
  }
}
