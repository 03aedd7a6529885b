import SessionCore
import Synchronization

/// The users whose accounts a provider still has to remove.
///
/// Until it has, none of them is signed in silently.
///
/// - Requirement: OUT-1, WEB-6
final class PendingAccountRemovals: Sendable {
  private let users = Mutex<[Generation: Identifier]>([:])

  /// Records the user whose account is removed with the session of a token.
  func insert(_ user: Identifier, for generation: Generation) {
    users.withLock { $0[generation] = user }
  }

  /// Removes the entry of that session, because nothing is pending any more.
  func remove(_ generation: Generation) {
    users.withLock { $0[generation] = nil }
  }

  /// Returns the user whose account is removed with the session of a token.
  func user(of generation: Generation) -> Identifier? {
    users.withLock { $0[generation] }
  }

  /// Returns whether the removal of this user's account is pending.
  func contains(_ user: Identifier) -> Bool {
    users.withLock { $0.values.contains(user) }
  }
}
