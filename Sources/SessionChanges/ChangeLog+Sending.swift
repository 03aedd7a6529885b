public import SessionChangeQueue
@_spi(Internals) import SessionCore
import SessionKit
import Synchronization

extension ChangeLog {
  /// Sends whatever waits, whenever it may: until the session object is closed or the task is cancelled.
  ///
  /// At once, when the gate opens, when this object takes a change in, when one is due again, and when
  /// ``sendNow()`` says so. What another process takes in is seen with the next of these.
  ///
  /// ```swift
  /// let sending = Task {
  ///   try await log.keepSending(through: session.gate) { waiting in await send(waiting.change) }
  /// }
  /// ```
  /// Each change is sent as ``drain(through:ignoresBackoff:_:)`` does it, in order and one at a time; such a drain of
  /// this object is waited for. Throws where the file cannot be used, and where another user's changes wait.
  ///
  /// - Requirement: SYN-3
  public func keepSending(
    through gate: SyncGate, _ send: @escaping @Sendable (PendingChange) async -> SendOutcome
  ) async throws(ChangeLogError) {
    var values = gate.values.makeAsyncIterator()
    while !Task.isCancelled {
      // Looked at anew: of a gate that was closed and opened again, no value tells.
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
        // A drain that somebody else has asked for does the same, and rings at its end.
        guard error == .drainUnderWay else { throw error }
      }
      await rest(behind: ending, gate)
    }
  }

  /// Has ``keepSending(through:_:)`` look at once, also where what waits is not due yet: the user wants it, or
  /// the network is back.
  public func sendNow() {
    ignoresBackoff.withLock { $0 = true }
    bell.ring()
  }

  /// Waits until there may be something to send, or the gate closes.
  private func rest(behind ending: DrainResult.Ending, _ gate: SyncGate) async {
    let deadline: Timestamp? =
      switch ending {
      case .waits(let until), .leasedElsewhere(let until): until
      // Where it closed by the log's word only, the session will hear of that logout in its own time.
      case .empty, .gateClosed, .cancelled: nil
      }
    do {
      try await gate.run { [self] in await rest(until: deadline) }
    } catch {
      // The gate is closed.
    }
  }

  /// Returns when it rings, when it is so late, or when the task is cancelled.
  ///
  /// On the clock that never jumps, and for an hour at most: the civil time may be set.
  private func rest(until deadline: Timestamp?) async {
    guard let deadline else { return await bell.wait() }
    let now = clock.now()
    let left = min(max(0, deadline.milliseconds(since: now.time)), 3_600_000)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [self] in await bell.wait() }
      group.addTask { [clock] in
        do { try await clock.sleep(untilUptime: now.uptime.addingSaturating(left)) } catch {
          // It rang, or nobody waits any more.
        }
      }
      await group.next()
      group.cancelAll()
    }
  }
}
