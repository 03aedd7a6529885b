@_spi(Internals) public import SessionCore
public import SessionKit
import Synchronization

/// A clock that stands still until a test advances it.
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
  /// A task that sleeps, or a timer; an object, since it is moved whenever an earlier one is added.
  fileprivate final class Sleeper: Sendable {
    /// What happens when the time has come.
    enum Waking: Sendable {
      /// A task continues; `false` if its sleep has ended early.
      case task(CheckedContinuation<Bool, Never>)
      /// A timer fires.
      case timer(@Sendable () -> Void)
    }

    let ticket: UInt64
    let deadline: Int64
    let waking: Waking

    init(ticket: UInt64, deadline: Int64, waking: Waking) {
      (self.ticket, self.deadline, self.waking) = (ticket, deadline, waking)
    }

    func isBefore(_ other: Sleeper) -> Bool {
      deadline == other.deadline ? ticket < other.ticket : deadline < other.deadline
    }

    func wake() {
      switch waking {
      case .task(let continuation): continuation.resume(returning: true)
      case .timer(let fire): fire()
      }
    }

    /// Ends the sleep before its time, as the cancellation of its task does; a timer never fires.
    func end() {
      if case .task(let continuation) = waking { continuation.resume(returning: false) }
    }
  }

  fileprivate struct State {
    var now: ClockReading
    /// The next one to wake is the last; of two with the same deadline, the one that came first.
    var sleepers: [Sleeper] = []
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    var tickets: UInt64 = 0
    var isOver = false
    var boots = 1
  }

  private let state: Mutex<State>
  private let name = UInt64.random(in: 0 ... .max)
  /// Resumes a sleeper that need not wait: at once, or as a job of a simulated world.
  private let inTurn: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// Creates a clock that shows `time`, with an uptime of one second.
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

  /// Returns the current reading of the clock.
  public func now() -> ClockReading {
    state.withLock { $0.now }
  }

  /// The id of the system's current boot: it changes with `restart`, and differs between clocks.
  public var boot: Identifier? {
    Identifier(uuidHigh: name, low: UInt64(state.withLock { $0.boots }))
  }

  /// Simulates a restart of the system: uptime is one second again, and the civil time stays.
  ///
  /// Close everything that sleeps on the clock before.
  ///
  /// - Requirement: REF-8
  public func restart() {
    state.withLock { state in
      state.boots += 1
      state.now = ClockReading(time: state.now.time, uptime: 1_000)
    }
  }

  /// The number of tasks that sleep on this clock, and of timers of a simulated world.
  public var sleeperCount: Int {
    state.withLock { $0.sleepers.count }
  }

  /// The uptime of the next task that wakes or timer that fires, in milliseconds; `nil` without one.
  package var nextDeadline: Int64? {
    state.withLock { $0.sleepers.last?.deadline }
  }

  /// Advances the civil time and the uptime by the duration, in one step.
  ///
  /// The sleepers that are due wake, the earliest first. A fraction of a millisecond counts as a
  /// whole one. A negative duration does nothing; to change only the civil time, use
  /// ``setTime(_:)``. A task that sleeps several times wakes only once; ``advance(by:sleepers:)``
  /// waits for it.
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
    for sleeper in due { sleeper.wake() }
  }

  /// Advances the clock by the duration, from one sleeper's deadline to the next.
  ///
  /// After each deadline it waits until `count` tasks sleep again. So a loop of sleeps of 100 ms
  /// makes ten rounds in a second. If fewer tasks sleep again, it waits until the calling task is
  /// cancelled.
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

  /// Runs `work`, and advances the clock by a second at a time as long as a task sleeps.
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

  /// Ends all current and later sleeps as if their tasks were cancelled.
  func stop() {
    let left = state.withLock { state in
      state.isOver = true
      defer { state.sleepers = [] }
      return state.sleepers.sorted { $0.ticket < $1.ticket }
    }
    for sleeper in left { sleeper.end() }
  }

  /// Sets the civil time without changing the uptime, as a user does in the system's settings.
  ///
  /// - Requirement: REF-8
  public func setTime(_ time: Timestamp) {
    state.withLock { $0.now = ClockReading(time: time, uptime: $0.now.uptime) }
  }

  /// Waits until at least `count` tasks sleep on this clock, or the calling task is cancelled.
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

  /// Sleeps until the clock's elapsed time reaches `deadline`; throws if the task is cancelled.
  public func sleep(until deadline: Duration) async throws(CancellationError) {
    try await rest(untilUptime: deadline.milliseconds(atLeast: .min))
  }

  /// Sleeps until an uptime in milliseconds, on the caller's executor.
  nonisolated(nonsending) func rest(untilUptime uptime: Int64) async throws(CancellationError) {
    let ticket = state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
    let isDue = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        fallAsleep(Sleeper(ticket: ticket, deadline: uptime, waking: .task(continuation)))
      }
    } onCancel: {
      cancel(ticket)
    }
    guard isDue else { throw CancellationError() }
  }

  private func fallAsleep(_ sleeper: Sleeper) {
    let (outcome, watchers) = state.withLock {
      state -> (Bool?, [CheckedContinuation<Void, Never>]) in
      if Task.isCancelled || state.isOver { return (false, []) }
      if sleeper.deadline <= state.now.uptime { return (true, []) }
      state.add(sleeper)
      return (nil, state.takeWatchers())
    }
    if let outcome { inTurn { if outcome { sleeper.wake() } else { sleeper.end() } } }
    for watcher in watchers { watcher.resume() }
  }

  /// Calls `fire` at this uptime, in milliseconds; at once if it has come.
  ///
  /// Returns the number of the timer, with which it can be cancelled. No task waits for it.
  package func set(at uptime: Int64, _ fire: @escaping @Sendable () -> Void) -> UInt64 {
    let (ticket, isDue, watchers) = state.withLock {
      state -> (UInt64, Bool, [CheckedContinuation<Void, Never>]) in
      state.tickets += 1
      let ticket = state.tickets
      if state.isOver { return (ticket, false, []) }
      if uptime <= state.now.uptime { return (ticket, true, []) }
      state.add(Sleeper(ticket: ticket, deadline: uptime, waking: .timer(fire)))
      return (ticket, false, state.takeWatchers())
    }
    if isDue { fire() }
    for watcher in watchers { watcher.resume() }
    return ticket
  }

  /// Ends the sleep of a task, or forgets a timer, unless its time has come.
  package func cancel(_ ticket: UInt64) {
    // Ended and released outside the lock, since a timer may hold the last reference to something.
    let sleeper = state.withLock { $0.takeSleeper(ticket) }
    sleeper?.end()
  }
}

extension ManualClock.State {
  fileprivate mutating func add(_ sleeper: ManualClock.Sleeper) {
    let place = sleepers.firstIndex { $0.isBefore(sleeper) } ?? sleepers.count
    sleepers.insert(sleeper, at: place)
  }

  fileprivate mutating func takeSleeper(_ ticket: UInt64) -> ManualClock.Sleeper? {
    sleepers.firstIndex { $0.ticket == ticket }.map { sleepers.remove(at: $0) }
  }

  /// Takes the sleepers that are due, the next one first.
  fileprivate mutating func takeDue() -> [ManualClock.Sleeper] {
    var due: [ManualClock.Sleeper] = []
    while let last = sleepers.last, last.deadline <= now.uptime {
      due.append(sleepers.removeLast())
    }
    return due
  }

  fileprivate mutating func takeWatchers() -> [CheckedContinuation<Void, Never>] {
    let count = sleepers.count
    let ready = watchers.filter { $0.count <= count }.map(\.continuation)
    watchers.removeAll { $0.count <= count }
    return ready
  }
}
