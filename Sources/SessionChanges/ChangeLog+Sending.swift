public import SessionChangeQueue
@_spi(Internals) import SessionCore
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
      await rest(behind: ending, gate)
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
  private func rest(behind ending: DrainResult.Ending, _ gate: SyncGate) async {
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
