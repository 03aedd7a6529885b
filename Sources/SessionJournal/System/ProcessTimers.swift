internal import Dispatch
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The timers of a process, in one place: one timer of the system serves all of them.
///
/// The time is the system's uptime in milliseconds, which continues while the system sleeps. The
/// system's own timer may stop meanwhile. So it is set for at most a minute, and a timer is late by
/// that at most.
///
/// - Requirement: SCL-2, REF-8
package final class ProcessTimers: Sendable {
  /// The timers of this process.
  package static let shared = ProcessTimers()

  /// A timer that was set.
  package struct Ticket: Sendable {
    fileprivate let number: UInt64
  }

  fileprivate struct State {
    var heap = TimerHeap<@Sendable () -> Void>()
    /// The time for which the system's timer is set; nil if it is not.
    var armed: Int64?
    let source: any DispatchSourceTimer
  }

  private let state: Mutex<State>

  package init() {
    state = Mutex(
      State(source: DispatchSource.makeTimerSource(queue: DispatchQueue(label: "session timers"))))
    state.withLock { state in
      state.source.setEventHandler { [weak self] in self?.fireDue() }
      state.source.resume()
    }
  }

  /// The system's uptime in milliseconds.
  package static func now() -> Int64 {
    var time = timespec()
    #if canImport(Darwin)
    clock_gettime(CLOCK_MONOTONIC, &time)
    #else
    clock_gettime(CLOCK_BOOTTIME, &time)
    #endif
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Returns the uptime in milliseconds at which a span from now is over.
  package static func deadline(after span: Duration) -> Int64 {
    let parts = span.components
    let milliseconds = Double(parts.seconds) * 1e3 + Double(parts.attoseconds) / 1e15
    return now() + Int64(min(max(0, milliseconds.rounded(.up)), 1e14))
  }

  /// The number of timers that are set and were not cancelled.
  package var count: Int { state.withLock { $0.heap.count } }

  // Never inlined into code with an `await`: a lock knows its thread, and the thread may change there.

  /// Calls `fire` at this uptime, on a thread that must not wait.
  @inline(never)
  package func set(at uptime: Int64, _ fire: @escaping @Sendable () -> Void) -> Ticket {
    state.withLock { state in
      let number = state.heap.insert(fire, at: uptime)
      if uptime < state.armed ?? .max { state.arm(at: uptime) }
      return Ticket(number: number)
    }
  }

  /// Forgets a timer, unless it has fired.
  @inline(never)
  package func cancel(_ ticket: Ticket) {
    let cancelled = state.withLock { $0.heap.remove(ticket.number) }
    // Released outside the lock, since it may hold the last reference to something.
    _ = cancelled
  }

  private func fireDue() {
    let now = Self.now()
    let due = state.withLock { state in
      state.armed = nil
      let due = state.heap.takeDue(at: now)
      if let next = state.heap.nextDeadline { state.arm(at: next) }
      return due
    }
    for fire in due { fire() }
  }

  /// Waits until a span is over; throws if the task is cancelled.
  package func sleep(for span: Duration) async throws(CancellationError) {
    try await sleep(until: Self.deadline(after: span))
  }

  /// Waits until the uptime has reached a value in milliseconds.
  ///
  /// Returns at once if it has. Throws if the task is cancelled. On Linux the runtime would keep the
  /// timer of a cancelled `Task.sleep`, about 750 bytes, until its time has come. A session cancels a
  /// timer with each new token, and a call with each response.
  package func sleep(until uptime: Int64) async throws(CancellationError) {
    let sleeper = Sleeper()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        sleeper.begin(continuation, until: uptime, by: self)
      }
    } onCancel: {
      sleeper.end(by: self)
    }
    if Task.isCancelled { throw CancellationError() }
  }
}

extension ProcessTimers.State {
  /// The longest time for which the system's timer is set, in milliseconds.
  private static var longest: Int64 { 60_000 }

  fileprivate mutating func arm(at uptime: Int64) {
    let now = ProcessTimers.now()
    let wait = uptime <= now ? 0 : min(uptime - now, Self.longest)
    armed = uptime
    source.schedule(deadline: .now() + .milliseconds(Int(wait)))
  }
}

/// A task that waits for a timer, or for its cancellation.
private final class Sleeper: Sendable {
  private struct State {
    var isOver = false
    var ticket: ProcessTimers.Ticket?
    var continuation: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func begin(
    _ continuation: CheckedContinuation<Void, Never>, until uptime: Int64, by timers: ProcessTimers
  ) {
    let isOver = state.withLock { state in
      guard !state.isOver, uptime > ProcessTimers.now() else { return true }
      state.continuation = continuation
      state.ticket = timers.set(at: uptime) { self.end(by: nil) }
      return false
    }
    if isOver { continuation.resume() }
  }

  /// Ends the wait; the timers forget it if it has not fired.
  func end(by timers: ProcessTimers?) {
    let (continuation, ticket) = state.withLock { state in
      state.isOver = true
      defer { (state.continuation, state.ticket) = (nil, nil) }
      return (state.continuation, state.ticket)
    }
    if let timers, let ticket { timers.cancel(ticket) }
    continuation?.resume()
  }
}

/// Values by deadline, of which the earliest is found at once.
///
/// A value that was removed leaves nothing.
struct TimerHeap<Value: Sendable>: Sendable {
  private struct Entry: Sendable {
    let deadline: Int64
    let number: UInt64
    let value: Value

    /// Timers of the same deadline fire in the order in which they were set.
    func isBefore(_ other: Entry) -> Bool {
      (deadline, number) < (other.deadline, other.number)
    }
  }

  /// A binary heap: no entry is before the one at half its place.
  private var entries: [Entry] = []
  /// The place of each entry.
  private var places: [UInt64: Int] = [:]
  private var lastNumber: UInt64 = 0

  var count: Int { entries.count }
  var nextDeadline: Int64? { entries.first?.deadline }

  /// Adds a value; returns its number.
  mutating func insert(_ value: Value, at deadline: Int64) -> UInt64 {
    lastNumber += 1
    entries.append(Entry(deadline: deadline, number: lastNumber, value: value))
    places[lastNumber] = entries.count - 1
    rise(from: entries.count - 1)
    return lastNumber
  }

  /// Removes the value of this number; nil if it is not there.
  mutating func remove(_ number: UInt64) -> Value? {
    guard let place = places.removeValue(forKey: number) else { return nil }
    let removed = entries[place]
    let last = entries.removeLast()
    if place < entries.count {
      put(last, at: place)
      sink(from: place)
      rise(from: place)
    }
    return removed.value
  }

  /// Removes all values whose deadline is not after this time, the earliest first.
  mutating func takeDue(at time: Int64) -> [Value] {
    var due: [Value] = []
    while let first = entries.first, first.deadline <= time {
      if let value = remove(first.number) { due.append(value) }
    }
    return due
  }

  private mutating func put(_ entry: Entry, at place: Int) {
    entries[place] = entry
    places[entry.number] = place
  }

  private mutating func rise(from start: Int) {
    var place = start
    let entry = entries[start]
    while place > 0, entry.isBefore(entries[(place - 1) / 2]) {
      put(entries[(place - 1) / 2], at: place)
      place = (place - 1) / 2
    }
    if place != start { put(entry, at: place) }
  }

  private mutating func sink(from start: Int) {
    var place = start
    let entry = entries[start]
    while 2 * place + 1 < entries.count {
      var child = 2 * place + 1
      if child + 1 < entries.count, entries[child + 1].isBefore(entries[child]) { child += 1 }
      guard entries[child].isBefore(entry) else { break }
      put(entries[child], at: place)
      place = child
    }
    if place != start { put(entry, at: place) }
  }
}
