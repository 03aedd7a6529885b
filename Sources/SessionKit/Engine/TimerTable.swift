/// The timers that are set, at most one of each kind.
struct TimerTable<Key: Hashable & Sendable>: Sendable {
  private let clock: any SessionClock
  private let runtime: SessionRuntime
  private var tasks: [Key: Task<Void, Never>] = [:]

  init(clock: any SessionClock, runtime: SessionRuntime) {
    (self.clock, self.runtime) = (clock, runtime)
  }

  /// Sets a timer, and replaces the one before.
  ///
  /// `fire` must ask ``takeFired(_:)`` whether the timer still counts.
  mutating func schedule(
    _ key: Key, at uptime: Int64, _ fire: @escaping @Sendable () async -> Void
  ) {
    cancel(key)
    let clock = clock
    tasks[key] = runtime.spawn {
      do { try await clock.sleep(untilUptime: uptime) } catch { return }
      await fire()
    }
  }

  /// Removes a timer that has fired; its own task calls this.
  ///
  /// Returns `false` if the timer was replaced or cancelled before its task arrived here.
  mutating func takeFired(_ key: Key) -> Bool {
    guard !Task.isCancelled else { return false }
    tasks[key] = nil
    return true
  }

  mutating func cancel(_ key: Key) {
    tasks.removeValue(forKey: key)?.cancel()
  }

  mutating func cancelAll() {
    for task in tasks.values { task.cancel() }
    tasks = [:]
  }
}
