internal import Dispatch
internal import Synchronization

/// The queue for one lock file in this process, so that its journals do not poll for each other.
///
/// The system's lock keeps other processes out. This lock queues the threads of this process, in
/// order.
package final class ProcessTurn: Sendable {
  private let semaphore = DispatchSemaphore(value: 1)

  package init() {}

  /// Waits for the turn, for at most that many nanoseconds; nil if the time is over.
  func take(within nanoseconds: UInt64) -> Taken? {
    let wait = DispatchTimeInterval.nanoseconds(Int(clamping: nanoseconds))
    return semaphore.wait(timeout: .now() + wait) == .success ? Taken(self) : nil
  }

  /// A turn that was taken; it ends with the last reference to this object.
  final class Taken: Sendable {
    private let turn: ProcessTurn

    fileprivate init(_ turn: ProcessTurn) {
      self.turn = turn
    }

    deinit {
      turn.semaphore.signal()
    }
  }
}

/// The turns at all lock files that are in use in this process, by path.
final class InProcessLockQueue: Sendable {
  static let shared = InProcessLockQueue()

  private struct Entry {
    weak var turn: ProcessTurn?
  }

  private let entries = Mutex<[String: Entry]>([:])

  /// Returns the one turn at the lock file with that path.
  func turn(at path: String) -> ProcessTurn {
    entries.withLock { entries in
      if let turn = entries[path]?.turn { return turn }
      entries = entries.filter { $0.value.turn != nil }
      let turn = ProcessTurn()
      entries[path] = Entry(turn: turn)
      return turn
    }
  }
}
