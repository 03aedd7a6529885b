public import SessionChangeQueue
@_spi(Internals) public import SessionCore
import SessionKit
import Synchronization

extension ChangeLog {
  /// Sends pending changes until the session object is closed or the task is cancelled.
  ///
  /// It begins to send in these cases:
  ///
  /// - It is called, or the gate opens.
  /// - This object accepts a change.
  /// - A postponed change is due.
  /// - ``sendNow()`` is called.
  ///
  /// Changes that another process adds are found in the next of these cases.
  ///
  /// ```swift
  /// let sending = Task {
  ///   try await log.keepSending(through: session.gate) { waiting in await send(waiting.change) }
  /// }
  /// ```
  /// Each change is sent as in ``drain(through:ignoresBackoff:_:)``, in order and one at a time. If
  /// this object drains already, it waits for that. Throws if the file cannot be used, or if
  /// another user's changes are pending.
  ///
  /// - Requirement: SYN-3
  public func keepSending(
    through gate: SyncGate, _ send: @escaping @Sendable (PendingChange) async -> SendOutcome
  ) async throws(ChangeLogError) {
    var values = gate.values.makeAsyncIterator()
    while !Task.isCancelled {
      // The gate is read again, since the sequence does not report a gate that was closed and
      // opened again.
      guard gate.isOpen else {
        guard await values.next() != nil else { return }
        continue
      }
      let ignoresBackoff = ignoresBackoff.withLock { ignoresBackoff in
        defer { ignoresBackoff = false }
        return ignoresBackoff
      }
      var ending = DrainResult.Ending.empty
      do throws(ChangeLogError) {
        ending = try await drainOnce(through: gate, ignoresBackoff: ignoresBackoff, send).ending
      } catch {
        // A drain that another caller has started does the same, and rings at its end.
        guard error == .drainUnderWay else { throw error }
      }
      await rest(after: ending, gate)
    }
  }

  /// Makes ``keepSending(through:_:)`` try at once, even if no change is due.
  ///
  /// Call it if the user requests it, or when the network is available again.
  public func sendNow() {
    ignoresBackoff.withLock { $0 = true }
    bell.ring()
  }

  /// Waits until there may be something to send, or until the gate closes.
  private func rest(after ending: DrainResult.Ending, _ gate: SyncGate) async {
    let deadline: Timestamp? =
      switch ending {
      case .waits(let until), .leasedElsewhere(let until): until
      // If only the log says that the sign-in has ended, the session learns of that logout later.
      case .empty, .gateClosed, .cancelled: nil
      }
    do {
      try await gate.run { [self] in await rest(until: deadline) }
    } catch {
      // The gate is closed.
    }
  }

  /// Returns when the signal rings, at the deadline, or when the task is cancelled.
  ///
  /// It uses the monotonic clock, and waits an hour at most, since the civil time may be set.
  private func rest(until deadline: Timestamp?) async {
    guard let deadline else { return await bell.wait() }
    let now = clock.now()
    let left = min(max(0, deadline.milliseconds(since: now.time)), 3_600_000)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [self] in await bell.wait() }
      group.addTask { [clock] in
        do { try await clock.sleep(untilUptime: now.uptime.addingSaturating(left)) } catch {
          // The signal rang, or the wait was cancelled.
        }
      }
      await group.next()
      group.cancelAll()
    }
  }
}

/// The result of sending the pending changes.
public struct DrainResult: Hashable, Sendable {
  /// Why the sending ended.
  public enum Ending: Hashable, Sendable {
    /// There are no more pending changes.
    case empty
    /// The gate closed.
    ///
    /// The changes stay pending.
    case gateClosed
    /// The first change is tried again at this time.
    case waits(until: Timestamp)
    /// Another process is sending, until this time at most.
    case leasedElsewhere(until: Timestamp)
    /// The task was cancelled.
    case cancelled
  }

  /// The number of changes that the server accepted.
  public internal(set) var acknowledged = 0
  /// The number of changes that became dead letters.
  public internal(set) var givenUp = 0
  /// Why the sending ended.
  public internal(set) var ending = Ending.empty
}

/// The maximum number and size of a log's changes.
public struct ChangeLogLimits: Hashable, Sendable {
  /// The maximum size of one change's content or body, in bytes.
  public static let content = 1 << 20
  /// The highest possible limit of bytes.
  public static let mostBytes = 4 << 20
  /// The highest possible limit of changes.
  public static let mostCount = 1_500

  /// The maximum number of pending changes and dead letters, from 1 to ``mostCount``.
  public let count: Int
  /// The maximum size of pending changes and dead letters in bytes (``/SessionChangeQueue/Change/size``), up to
  /// ``mostBytes``.
  public let bytes: Int

  /// Creates limits.
  ///
  /// Values out of range become the nearest bound.
  public init(count: Int = 1_000, bytes: Int = ChangeLogLimits.mostBytes) {
    self.count = min(max(1, count), Self.mostCount)
    self.bytes = min(max(1, bytes), Self.mostBytes)
  }
}

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

/// An auto-reset signal: it resumes all waiters, or else the next one.
final class ChangeSignal: Sendable {
  private struct State {
    /// The number of rings, and how many of them a waiter has received.
    var rings: UInt64 = 0
    var received: UInt64 = 0
  }

  private let state = WaitableState(State())

  /// Resumes all waiters, or else the next one.
  func ring() { state.change { $0.rings += 1 } }

  /// Returns when it rings, or when the task is cancelled.
  func wait() async {
    let received = state.withLock { $0.received }
    await state.wait { state -> Void? in
      guard state.rings > received else { return nil }
      state.received = state.rings
      return ()
    }
  }

  /// The number of waiters.
  var waiterCount: Int { state.waiterCount }
}
