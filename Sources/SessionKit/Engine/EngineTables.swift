@_spi(Internals) import SessionCore
import SessionJournal

/// The callers that wait for an answer of the coordinator, and what they have passed.
struct CallerTable: Sendable {
  // The parts of the engine are structs and never call it. If one did, the engine would access it
  // twice at the same time, and Swift ends the process. As actors or classes they would need locks,
  // or a suspension between two effects of one input.
  typealias Answer = Result<SessionEffect.Reply, SessionError>
  typealias Payload = SessionEngine.CommandPayload

  private var waiting: [Caller: CheckedContinuation<Answer, Never>] = [:]
  private var payloads: [Caller: Payload] = [:]
  private var count: UInt64 = 0

  /// Adds a caller whose command may have data that the coordinator must not see.
  mutating func add(_ payload: Payload?) -> Caller {
    count += 1
    let caller = Caller(count)
    if let payload { payloads[caller] = payload }
    return caller
  }

  /// Begins the wait of a caller.
  mutating func begin(_ caller: Caller, _ continuation: CheckedContinuation<Answer, Never>) {
    waiting[caller] = continuation
  }

  /// Returns the data of a caller's command, as long as the caller waits.
  func payload(of caller: Caller) -> Payload? { payloads[caller] }

  /// Forgets the data of a caller's command, and returns it.
  mutating func takePayload(of caller: Caller) -> Payload? {
    guard !payloads.isEmpty else { return nil }
    // An empty table keeps its memory, which is more than 1 KiB here.
    defer { if payloads.isEmpty { payloads = [:] } }
    return payloads.removeValue(forKey: caller)
  }

  /// Ends the wait of a caller, unless it has ended.
  mutating func end(_ caller: Caller, with answer: Answer) {
    waiting.removeValue(forKey: caller)?.resume(returning: answer)
    if waiting.isEmpty { waiting = [:] }
  }

  /// Ends every wait.
  mutating func endAll(with error: SessionError) {
    let ended = waiting.values
    (waiting, payloads) = ([:], [:])
    for continuation in ended { continuation.resume(returning: .failure(error)) }
  }
}

/// The requests under way, by the coordinator's numbers, and the responses that wait to be journaled.
struct RequestTable: Sendable {
  /// The responses that wait to be journaled.
  var responses: [RequestNumber: TokenResponse] = [:] {
    // An empty table keeps its memory, which is more than 1 KiB here.
    didSet { if responses.isEmpty { responses = [:] } }
  }
  private var tasks: [RequestNumber: Task<Void, Never>] = [:]
  /// The last request that may change a token, and the token with which it was made.
  ///
  /// It is forgotten at its end, since an ended task keeps about 1 KiB.
  private var last: (base: Generation, number: RequestNumber, task: Task<Void, Never>)?

  /// Whether no request is under way.
  var isEmpty: Bool { tasks.isEmpty }

  /// Whether the request is under way and was not withdrawn.
  func isRunning(_ number: RequestNumber) -> Bool { tasks[number] != nil }

  /// Records a request; `base` is the token that it may change, `nil` if there is none.
  mutating func begin(
    _ number: RequestNumber, changing base: Generation? = nil, _ task: Task<Void, Never>
  ) {
    tasks[number] = task
    if let base { last = (base, number, task) }
  }

  /// Forgets the task of a request, which has nothing more to do.
  mutating func forgetTask(of number: RequestNumber) {
    if last?.number == number { last = nil }
  }

  /// Records that a request has ended, or was withdrawn.
  mutating func end(_ number: RequestNumber) {
    tasks[number] = nil
  }

  /// Returns the last request that was made with this token; `nil` if it has ended.
  func last(changing base: Generation) -> Task<Void, Never>? {
    last?.base == base ? last?.task : nil
  }
}

/// The tokens to revoke that are not stored, and the revocations under way.
struct RevocationTable: Sendable {
  /// The tokens of sessions that have ended, until what their revocation needs is stored.
  var tokens: [Generation: StoredToken] = [:]
  /// The entries of revocations that could not be stored.
  var unstored: [Generation: StoredRevocations.Entry] = [:]
  /// Whether a revocation of a logout begins no further request, since the session closes.
  private(set) var isStopped = false
  /// The number of revocations of logouts under way.
  private var runCount = 0
  /// The number of their requests under way.
  private var requestCount = 0
  /// Calls of `close()` that wait for these revocations.
  private var runWaiters = WaiterTable<Void>()
  /// Calls of `close()` that wait for these requests.
  private var requestWaiters = WaiterTable<Void>()

  /// Whether this process still has the tokens, wherever they are stored.
  func holds(_ generation: Generation) -> Bool {
    tokens[generation] != nil || unstored[generation] != nil
  }

  /// Forgets the tokens of a revocation that has ended.
  mutating func forget(_ generation: Generation) {
    tokens[generation] = nil
    unstored[generation] = nil
  }

  // MARK: Revocations

  var isRunning: Bool { runCount > 0 }

  mutating func beginRun() { runCount += 1 }

  mutating func endRun() {
    runCount -= 1
    if !isRunning { endRunWaits() }
  }

  /// Waits for the end of all revocations, or for ``endRunWaits()``.
  mutating func awaitRuns(_ continuation: CheckedContinuation<Void, Never>) {
    runWaiters.begin(continuation)
  }

  mutating func endRunWaits() { runWaiters.endAll(with: ()) }

  /// Lets no revocation begin a further request.
  mutating func stop() { isStopped = true }

  // MARK: Requests

  var isRequesting: Bool { requestCount > 0 }

  mutating func beginRequest() { requestCount += 1 }

  mutating func endRequest() {
    requestCount -= 1
    if !isRequesting { requestWaiters.endAll(with: ()) }
  }

  /// Waits for the end of all requests.
  mutating func awaitRequests(_ continuation: CheckedContinuation<Void, Never>) {
    requestWaiters.begin(continuation)
  }
}

/// Callers that wait for a value, by number.
struct WaiterTable<Value: Sendable>: Sendable {
  private var waiting: [UInt64: CheckedContinuation<Value, Never>] = [:]
  private var count: UInt64 = 0

  /// Returns the number of the next wait.
  mutating func nextNumber() -> UInt64 {
    count += 1
    return count
  }

  /// Begins the wait of this number.
  mutating func begin(_ number: UInt64, _ continuation: CheckedContinuation<Value, Never>) {
    waiting[number] = continuation
  }

  /// Begins a wait that ends with all others.
  mutating func begin(_ continuation: CheckedContinuation<Value, Never>) {
    begin(nextNumber(), continuation)
  }

  /// Ends the wait of this number, unless it has ended.
  mutating func end(_ number: UInt64, with value: Value) {
    waiting.removeValue(forKey: number)?.resume(returning: value)
  }

  /// Ends every wait.
  mutating func endAll(with value: Value) {
    let ended = waiting.values
    waiting = [:]
    for continuation in ended { continuation.resume(returning: value) }
  }
}

/// The timers that are set, at most one of each kind.
///
/// By the system's clock a timer is an entry among those of the process, and in a simulated world one
/// among those of the world. By another clock a task sleeps, which costs about 2 KiB.
struct TimerTable<Key: Hashable & Sendable>: Sendable {
  private enum Alarm: Sendable {
    case entry(ProcessTimers.Ticket)
    case alarm(UInt64)
    case task(Task<Void, Never>)
  }

  private struct Entry: Sendable {
    let key: Key
    let number: UInt64
    let alarm: Alarm
  }

  private let clock: any SessionClock
  private let isSystemClock: Bool
  private let alarmClock: (any AlarmClock)?
  private let runtime: SessionRuntime
  /// The timers that are set: a few, so that to look at each costs less than a hash.
  private var entries: [Entry] = []
  private var lastNumber: UInt64 = 0

  init(clock: any SessionClock, runtime: SessionRuntime) {
    (self.clock, self.runtime) = (clock, runtime)
    (isSystemClock, alarmClock) = (clock is SystemClock, clock as? any AlarmClock)
  }

  /// Sets a timer, and replaces the one before.
  ///
  /// `fire` receives the number of the timer. It must ask ``takeFired(_:_:)`` whether the timer
  /// still counts.
  mutating func schedule(
    _ key: Key, at uptime: Int64, _ fire: @escaping @Sendable (UInt64) async -> Void
  ) {
    cancel(key)
    lastNumber += 1
    let (clock, runtime, number) = (clock, runtime, lastNumber)
    let alarm: Alarm
    if let alarmClock {
      alarm = .alarm(alarmClock.set(at: uptime) { await fire(number) })
    } else if isSystemClock {
      alarm = .entry(
        ProcessTimers.shared.set(at: uptime) { _ = runtime.spawn { await fire(number) } })
    } else {
      alarm = .task(
        runtime.spawn {
          do { try await clock.sleep(untilUptime: uptime) } catch { return }
          await fire(number)
        })
    }
    entries.append(Entry(key: key, number: number, alarm: alarm))
  }

  /// Removes a timer that has fired.
  ///
  /// Returns `false` if the timer was replaced or cancelled before this call.
  mutating func takeFired(_ key: Key, _ number: UInt64) -> Bool {
    guard let place = place(of: key), entries[place].number == number else { return false }
    entries.remove(at: place)
    return true
  }

  mutating func cancel(_ key: Key) {
    guard let place = place(of: key) else { return }
    cancel(entries.remove(at: place).alarm)
  }

  mutating func cancelAll() {
    let ended = entries
    entries = []
    for entry in ended { cancel(entry.alarm) }
  }

  private func place(of key: Key) -> Int? {
    entries.indices.first { entries[$0].key == key }
  }

  private func cancel(_ alarm: Alarm) {
    switch alarm {
    case .entry(let ticket): ProcessTimers.shared.cancel(ticket)
    case .alarm(let number): alarmClock?.cancel(number)
    case .task(let task): task.cancel()
    }
  }
}
