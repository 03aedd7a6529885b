@_spi(Internals) import SessionCore
import Synchronization

/// The logouts that this process has begun and that have not ended.
///
/// Another process with the same number holds none of them.
enum ProcessLogoutHolds {
  /// A logout of a journal's session that prevents a log from accepting changes.
  struct Hold: Hashable {
    let log: String
    let journal: Identifier
    /// The opening of the log that holds the logout.
    let sender: Identifier
  }

  private static let holds = Mutex<Set<Hold>>([])

  static func insert(_ hold: Hold) { holds.withLock { _ = $0.insert(hold) } }
  static func remove(_ hold: Hold) { holds.withLock { _ = $0.remove(hold) } }
  /// Returns whether any logout prevents the log at a path from accepting changes.
  static func contains(any log: String) -> Bool {
    holds.withLock { $0.contains { $0.log == log } }
  }
  static func contains(_ hold: Hold) -> Bool { holds.withLock { $0.contains(hold) } }
}
