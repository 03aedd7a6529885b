import SessionCore
import Synchronization

/// The logouts that this process has begun and that have not ended: another life of the same process number
/// holds nobody.
enum LeavingHolds {
  /// A logout of the session of a journal, that keeps a log from taking changes in.
  struct Hold: Hashable {
    let log: String
    let journal: Identifier
    let process: UInt32
  }

  private static let holds = Mutex<Set<Hold>>([])

  static func insert(_ hold: Hold) { holds.withLock { _ = $0.insert(hold) } }
  static func remove(_ hold: Hold) { holds.withLock { _ = $0.remove(hold) } }
  static func contains(_ hold: Hold) -> Bool { holds.withLock { $0.contains(hold) } }
}
