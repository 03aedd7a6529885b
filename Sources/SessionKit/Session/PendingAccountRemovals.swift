import SessionCore
import Synchronization

/// The users whose accounts a provider is still to forget: until it has, none of them is signed in silently.
///
/// - Requirement: OUT-1, WEB-6
final class PendingAccountRemovals: Sendable {
  private let users = Mutex<[Generation: Identifier]>([:])

  /// Notes whose account goes with the session of a token.
  func insert(_ user: Identifier, for generation: Generation) {
    users.withLock { $0[generation] = user }
  }

  /// Nothing is owed for that session any more.
  func remove(_ generation: Generation) {
    users.withLock { $0[generation] = nil }
  }

  /// Whose account goes with the session of a token.
  func user(of generation: Generation) -> Identifier? {
    users.withLock { $0[generation] }
  }

  /// Whether this user's account is still to be forgotten.
  func contains(_ user: Identifier) -> Bool {
    users.withLock { $0.values.contains(user) }
  }
}
