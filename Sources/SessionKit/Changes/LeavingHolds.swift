import SessionCore
import Synchronization

/// The logs and sessions for which this process has begun a logout that has not ended: another life of the same
/// process number holds nobody.
enum LeavingHolds {
  private struct Hold: Hashable {
    let log: String
    let journal: Identifier
  }

  private static let holds = Mutex<Set<Hold>>([])

  static func insert(_ log: String, _ journal: Identifier) {
    holds.withLock { _ = $0.insert(Hold(log: log, journal: journal)) }
  }

  static func remove(_ log: String, _ journal: Identifier) {
    holds.withLock { _ = $0.remove(Hold(log: log, journal: journal)) }
  }

  static func contains(_ log: String, _ journal: Identifier) -> Bool {
    holds.withLock { $0.contains(Hold(log: log, journal: journal)) }
  }
}
