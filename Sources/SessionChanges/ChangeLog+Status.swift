import SessionChangeQueue
@_spi(Internals) public import SessionCore

/// What scopes know of the user's status.
///
/// - Requirement: SYN-4
extension ChangeLog {
  /// Returns when the user's status last changed at the server, as far as this scope knows; `nil`
  /// if it does not.
  public func statusChangedAt(scope: String = "") -> Timestamp? { store.last.scopes[scope] }

  /// Stores when the user's status last changed at the server (`lastStatusChangedAt`).
  ///
  /// Returns whether the scope had another time, or none.
  ///
  /// - Requirement: SYN-4
  @discardableResult
  public func noteStatus(changedAt time: Timestamp, scope: String = "") async throws(ChangeLogError)
    -> Bool
  {
    try await perform(.noteStatus(.init(scope: scope, statusChangedAt: time)))
  }

  /// Returns the scope in which the session itself stores the status of a user, such as `user/17`.
  public static func scope(of user: Identifier) -> String { "user/\(user)" }

  /// Returns when a user's status last changed.
  ///
  /// It reads the file, since another process may have stored it.
  func knownStatus(of user: Identifier) async -> Timestamp? {
    let scope = Self.scope(of: user)
    do throws(ChangeLogError) {
      let time = try await commit { (queue, _) throws(ChangeLogError) in ([], queue.scopes[scope]) }
      note(nil, in: .status)
      return time
    } catch {
      note(error, in: .status)
      return store.last.scopes[scope]
    }
  }

  /// Stores the time of a profile's status, if it is newer.
  ///
  /// If it cannot be stored, the next profile has it again.
  func keep(_ change: StatusChange) async {
    let scope = Self.scope(of: change.user)
    do throws(ChangeLogError) {
      try await perform(
        .noteNewerStatus(.init(scope: scope, statusChangedAt: change.changedAt)))
      note(nil, in: .status)
    } catch {
      note(error, in: .status)
    }
  }
}
