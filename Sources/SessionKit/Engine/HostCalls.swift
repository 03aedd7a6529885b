import SessionCore

/// The calls to a session's hosts: what runs for them, and the callers that wait for them.
///
/// It decides nothing. `DataClearing` and the engine do.
struct HostCalls: Sendable {
  /// Decides when the hosts clear their data.
  var clearing: DataClearing
  /// The timers of those calls.
  var timers: TimerTable<DataClearing.Timer>
  /// The callers that wait for those calls; each receives an error, or `nil` if it can continue.
  var waiters = WaiterTable<SessionError?>()
  /// Decides when the hosts are notified of a change of a user's status.
  var statusNotices = StatusNotices()
  private var tasks: [Int: Task<Void, Never>] = [:]
  /// The number of logouts that have asked the hosts to hold changes, and have not ended.
  private var holdCount = 0
  /// Ends after the hosts were called to release what they held.
  private var release: Task<Void, Never>?
  /// The running notification of a change of status.
  private var notice: Task<Void, Never>?

  init(_ configuration: SessionConfiguration, _ runtime: SessionRuntime) {
    clearing = DataClearing(
      DataClearing.Hosts(
        haveData: configuration.hasLocalData, separateLogins: configuration.hasSeparateData,
        limit: configuration.clearingLimit?.milliseconds(atLeast: 0)))
    timers = TimerTable(clock: configuration.clock, runtime: runtime)
  }

  /// Returns whether hosts may have to be called as soon as a user is signed in.
  ///
  /// It changes nothing. It is mutating so that the engine passes its value and not a copy of it.
  mutating func awaitsUser() -> Bool { clearing.isNeeded || statusNotices.isPending }

  // MARK: Clearing

  /// Starts the call of this number after the call before it.
  mutating func start(
    _ number: Int, on runtime: SessionRuntime, _ call: @escaping @Sendable () async -> Void
  ) {
    let before = tasks[number - 1]
    tasks[number] = runtime.spawn {
      await before?.value
      await call()
    }
  }

  mutating func cancel(_ number: Int) {
    tasks[number]?.cancel()
  }

  /// Forgets a call that has ended; its own task calls this.
  mutating func remove(_ number: Int) {
    tasks[number] = nil
  }

  // MARK: Holding changes

  /// Whether a logout is running for which the hosts hold changes.
  var isHolding: Bool { holdCount > 0 }

  /// Begins a hold, and returns the release of an earlier one.
  mutating func beginHold() -> Task<Void, Never>? {
    holdCount += 1
    return release
  }

  mutating func endHold() {
    holdCount -= 1
  }

  /// Starts a release after the one before.
  mutating func startRelease(
    on runtime: SessionRuntime, _ call: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never> {
    let before = release
    let task = runtime.spawn {
      await before?.value
      await call()
    }
    release = task
    return task
  }

  // MARK: Status

  /// Starts a notification after the one before.
  mutating func startNotice(
    on runtime: SessionRuntime, _ call: @escaping @Sendable () async -> Void
  ) {
    let before = notice
    notice = runtime.spawn {
      await before?.value
      await call()
    }
  }
}
