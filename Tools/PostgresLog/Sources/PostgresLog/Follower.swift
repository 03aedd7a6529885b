internal import Dispatch
internal import SessionJournal
internal import Synchronization

/// Waits until a log in the database has changed.
struct PostgresChanges: LogChanges {
  let isNotified = true

  private let log: PostgresLog

  init(_ log: PostgresLog) { self.log = log }

  func wait(atMost limit: Duration) async {
    let follower = log.database.follower
    let number = follower.nextNumber()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        follower.add(
          .init(
            log: log.identity.log, last: log.lastSequence, first: log.firstSequence,
            end: .now + limit,
            wake: continuation),
          number, in: log.database)
      }
    } onCancel: {
      follower.cancel(number)
    }
    follower.forget(number)
  }
}

/// One poll for all logs of a database that have a waiter: it reads their last sequences.
///
/// Nothing runs without a waiter.
final class Follower: Sendable {
  struct Waiter: Sendable {
    let log: Int64
    let last: UInt64
    let first: UInt64
    let end: ContinuousClock.Instant
    let wake: CheckedContinuation<Void, Never>
  }

  private struct State {
    var waiters: [UInt64: Waiter] = [:]
    /// Cancelled before they were added.
    var cancelled: Set<UInt64> = []
    var next: UInt64 = 0
    var isPolling = false
  }

  private let interval: Duration
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "session log follower")

  init(interval: Duration) { self.interval = interval }

  func nextNumber() -> UInt64 {
    state.withLock { state in
      state.next += 1
      return state.next
    }
  }

  func add(_ waiter: Waiter, _ number: UInt64, in database: PostgresDatabase) {
    let (isCancelled, begins) = state.withLock { state -> (Bool, Bool) in
      guard state.cancelled.remove(number) == nil else { return (true, false) }
      state.waiters[number] = waiter
      defer { state.isPolling = true }
      return (false, !state.isPolling)
    }
    if isCancelled { waiter.wake.resume() }
    if begins { schedule(database) }
  }

  /// Wakes a waiter early; one that was not added yet is not added any more.
  func cancel(_ number: UInt64) {
    let waiter = state.withLock { state in
      let waiter = state.waiters.removeValue(forKey: number)
      if waiter == nil { state.cancelled.insert(number) }
      return waiter
    }
    waiter?.wake.resume()
  }

  /// Forgets a cancellation that came after the waiter was woken.
  func forget(_ number: UInt64) { _ = state.withLock { $0.cancelled.remove(number) } }

  private func schedule(_ database: PostgresDatabase) {
    let nearest = state.withLock { $0.waiters.values.lazy.map(\.end).min() }
    let pause = min(interval, max(.zero, (nearest ?? .now) - .now))
    queue.asyncAfter(deadline: .now() + .nanoseconds(pause.nanoseconds)) { [weak database] in
      guard let database else { return }
      self.poll(database)
    }
  }

  private func poll(_ database: PostgresDatabase) {
    let logs = Set(state.withLock { $0.waiters.values.map(\.log) })
    var found: [Int64: (last: UInt64, first: UInt64)] = [:]
    var isKnown = true
    do throws(ServerProblem) {
      let rows = try database.withConnection { slot throws(ServerProblem) in
        try database.begin([database.sql.look(Array(logs))], on: slot)
      } problem: {
        $0
      }
      for row in 0..<rows[0].count {
        found[rows[0].integer(row, 0)] = (rows[0].unsigned(row, 1), rows[0].unsigned(row, 2))
      }
    } catch {
      // The server does not answer: each session finds that out when it asks.
      isKnown = false
    }
    let now = ContinuousClock.now
    let (woken, goesOn) = state.withLock { state -> ([Waiter], Bool) in
      var woken: [Waiter] = []
      state.waiters = state.waiters.filter { _, waiter in
        let row = found[waiter.log]
        let isChanged = isKnown && (row?.last != waiter.last || row?.first != waiter.first)
        guard isChanged || waiter.end <= now else { return true }
        woken.append(waiter)
        return false
      }
      state.isPolling = !state.waiters.isEmpty
      return (woken, state.isPolling)
    }
    for waiter in woken { waiter.wake.resume() }
    if goesOn { schedule(database) }
  }
}
