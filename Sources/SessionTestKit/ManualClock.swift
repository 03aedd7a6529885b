@_spi(Internals) public import SessionCore
public import SessionKit
import Synchronization

/// A clock that stands still until a test moves it.
///
/// ```swift
/// let clock = ManualClock()
/// // … open a session with it, sign in …
/// await clock.waitForSleepers(1)    // the next refresh is scheduled
/// clock.advance(by: .seconds(3_600))      // an hour later: it is due
/// ```
///
/// - Requirement: TST-2
public final class ManualClock: SessionClock {
  fileprivate struct Sleeper {
    let deadline: Int64
    let continuation: CheckedContinuation<Bool, Never>
  }

  fileprivate struct State {
    var now: ClockReading
    var sleepers: [UInt64: Sleeper] = [:]
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    var tickets: UInt64 = 0
    var isOver = false
    var boots = 1
  }

  private let state: Mutex<State>
  private let name = UInt64.random(in: 0 ... .max)
  /// What lets a sleeper go on that need not wait: at once, unless a world wants its turn to be taken.
  private let inTurn: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// A clock that shows `time`, with an uptime of one second.
  public convenience init(time: Timestamp = Timestamp(milliseconds: 1_767_225_600_000)) {
    self.init(time: time) { $0() }
  }

  init(
    time: Timestamp = Timestamp(milliseconds: 1_767_225_600_000),
    inTurn: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    state = Mutex(State(now: ClockReading(time: time, uptime: 1_000)))
    self.inTurn = inTurn
  }

  /// What the clock shows.
  public func now() -> ClockReading {
    state.withLock { $0.now }
  }

  /// Which start of the system it is: the same until `restart`, and another for each clock.
  public var boot: Identifier? {
    Identifier(uuidHigh: name, low: UInt64(state.withLock { $0.boots }))
  }

  /// Starts the system anew: uptime begins at one second again, and the civil time stays.
  ///
  /// For when nobody sleeps on it: what was open is closed by then.
  ///
  /// - Requirement: REF-8
  public func restart() {
    state.withLock { state in
      state.boots += 1
      state.now = ClockReading(time: state.now.time, uptime: 1_000)
    }
  }

  /// How many tasks sleep on this clock.
  public var sleeperCount: Int {
    state.withLock { $0.sleepers.count }
  }

  /// The uptime at which the next sleeper wakes, in milliseconds; `nil` if none sleeps.
  package var nextDeadline: Int64? {
    state.withLock { state in state.sleepers.values.map(\.deadline).min() }
  }

  /// Lets the duration pass in one step, on both clocks.
  ///
  /// The sleepers that are due wake, the earliest first.
  /// A part of a millisecond counts as a whole one. Time does not go back: a negative duration does nothing,
  /// and ``setTime(_:)`` sets the civil time. A task that sleeps several times is woken once:
  /// ``advance(by:sleepers:)`` waits for it.
  ///
  /// - Requirement: TST-2
  public func advance(by duration: Duration) {
    guard duration >= .zero else { return }
    let milliseconds = duration.milliseconds(atLeast: 0)
    let due = state.withLock { state in
      state.now = ClockReading(
        time: state.now.time.advanced(by: milliseconds),
        uptime: state.now.uptime.addingSaturating(milliseconds))
      return state.takeDue()
    }
    for sleeper in due { sleeper.continuation.resume(returning: true) }
  }

  /// Lets the duration pass from one sleeper's time to the next.
  ///
  /// After each it waits until `count` tasks sleep again: a loop of ten sleeps of 100 ms makes ten rounds in
  /// a second.
  /// If fewer tasks sleep again, this waits until the calling task is cancelled.
  ///
  /// - Requirement: TST-2
  public func advance(by duration: Duration, sleepers count: Int) async {
    let end = now().uptime.addingSaturating(duration.milliseconds(atLeast: 0))
    await waitForSleepers(count)
    while !Task.isCancelled, let next = nextDeadline, next <= end {
      advance(by: .milliseconds(max(0, next - now().uptime)))
      await waitForSleepers(count)
    }
    advance(by: .milliseconds(end - now().uptime))
  }

  /// Does work while time goes on, a second at a time, whenever a task sleeps.
  package func running<Value: Sendable>(
    _ work: @Sendable () async throws -> Value
  ) async throws -> Value {
    let ticker = Task { [self] in
      while !Task.isCancelled {
        if sleeperCount > 0 { advance(by: .seconds(1)) }
        try await Task.sleep(for: .milliseconds(2))
      }
    }
    defer { ticker.cancel() }
    return try await work()
  }

  /// Nobody sleeps any more, now or later: every sleep ends as if its task were cancelled.
  func stop() {
    let left = state.withLock { state in
      state.isOver = true
      defer { state.sleepers = [:] }
      return state.sleepers.sorted { $0.key < $1.key }.map(\.value)
    }
    for sleeper in left { sleeper.continuation.resume(returning: false) }
  }

  /// Sets the civil time without any time passing: what a user does in the settings.
  ///
  /// - Requirement: REF-8
  public func setTime(_ time: Timestamp) {
    state.withLock { $0.now = ClockReading(time: time, uptime: $0.now.uptime) }
  }

  /// Returns once at least `count` tasks sleep on this clock, or the calling task is cancelled.
  public func waitForSleepers(_ count: Int) async {
    while !Task.isCancelled, sleeperCount < count {
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          guard state.sleepers.count < count else { return true }
          state.watchers.append((count, continuation))
          return false
        }
        if isThere { continuation.resume() }
      }
    }
  }

  /// Sleeps until the clock's elapsed time has been moved to `deadline`.
  public func sleep(until deadline: Duration) async throws(CancellationError) {
    let uptime = deadline.milliseconds(atLeast: .min)
    let ticket = state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
    let isDue = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        fallAsleep(ticket, Sleeper(deadline: uptime, continuation: continuation))
      }
    } onCancel: {
      let sleeper = state.withLock { $0.sleepers.removeValue(forKey: ticket) }
      sleeper?.continuation.resume(returning: false)
    }
    guard isDue else { throw CancellationError() }
  }

  private func fallAsleep(_ ticket: UInt64, _ sleeper: Sleeper) {
    let (outcome, watchers) = state.withLock {
      state -> (Bool?, [CheckedContinuation<Void, Never>]) in
      if Task.isCancelled || state.isOver { return (false, []) }
      if sleeper.deadline <= state.now.uptime { return (true, []) }
      state.sleepers[ticket] = sleeper
      return (nil, state.takeWatchers())
    }
    if let outcome { inTurn { sleeper.continuation.resume(returning: outcome) } }
    for watcher in watchers { watcher.resume() }
  }
}

extension ManualClock.State {
  fileprivate mutating func takeDue() -> [ManualClock.Sleeper] {
    let due = sleepers.filter { $0.value.deadline <= now.uptime }
    for ticket in due.keys { sleepers[ticket] = nil }
    return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value)
  }

  fileprivate mutating func takeWatchers() -> [CheckedContinuation<Void, Never>] {
    let count = sleepers.count
    let ready = watchers.filter { $0.count <= count }.map(\.continuation)
    watchers.removeAll { $0.count <= count }
    return ready
  }
}
