public import SessionCore
package import SessionJournal

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A clock that a session uses to read the time and to sleep.
public protocol SessionClock: Sendable {
  /// Returns the civil time and the uptime.
  ///
  /// The uptime never jumps and continues while the system sleeps.
  func now() -> ClockReading

  /// The boot of the system from which the uptime counts.
  ///
  /// If it is `nil`, it is not known, and a stored uptime cannot be used later.
  ///
  /// - Requirement: REF-8
  var boot: Identifier? { get }

  /// Waits until `now().elapsed` has reached `deadline`.
  ///
  /// Returns at once if it has.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  func sleep(until deadline: Duration) async throws(CancellationError)
}

extension SessionClock {
  /// `nil`: the boot is not known.
  public var boot: Identifier? { nil }

  /// Waits until the uptime has reached `deadline`, in milliseconds.
  nonisolated(nonsending) package func sleep(
    untilUptime deadline: Int64
  ) async throws(CancellationError) {
    try await sleep(until: .milliseconds(deadline))
  }
}

/// The device's clocks.
///
/// Uptime is `CLOCK_BOOTTIME` on Linux and `CLOCK_MONOTONIC` on Apple's systems: both run while the
/// system sleeps.
///
/// - Requirement: REF-8
package struct SystemClock: SessionClock {
  /// Creates a clock that reads the device's clocks.
  package init() {}

  /// Returns the current civil time and uptime.
  package func now() -> ClockReading {
    ClockReading(
      time: Timestamp(milliseconds: Self.milliseconds(CLOCK_REALTIME)),
      uptime: ProcessTimers.now())
  }

  /// The system's own identifier of its boot.
  package var boot: Identifier? { ProcessStatus.boot }

  /// Waits by the timers that all sessions of the process share.
  ///
  /// The system's timer may stop while the system sleeps. Then the delay is at most a minute.
  package func sleep(until deadline: Duration) async throws(CancellationError) {
    try await ProcessTimers.shared.sleep(until: deadline.milliseconds(atLeast: .min))
  }

  private static func milliseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}

/// A clock with timers that wait without a task.
///
/// A session cancels most of its timers, and a task that sleeps costs three jobs and about 2 KiB.
package protocol AlarmClock: SessionClock {
  /// Starts a task with `work` at this uptime, in milliseconds; returns the number of the timer.
  ///
  /// It never calls `work` itself.
  func set(at uptime: Int64, _ work: @escaping @Sendable () async -> Void) -> UInt64

  /// Forgets a timer, unless it has fired.
  func cancel(_ number: UInt64)
}

/// The threads and tasks on which a session's work runs.
///
/// A simulation replaces it to decide the order of steps.
package struct SessionRuntime: Sendable {
  /// Runs the engine's jobs, one at a time.
  package let executor: any SerialExecutor
  /// Runs work that may wait for the disk, in turn with the engine's jobs.
  package let perform: @Sendable (@escaping @Sendable () -> Void) -> Void
  /// Runs the tasks of the session outside the engine's thread; `nil` for the threads of the system.
  package let tasks: (any TaskExecutor)?
  /// Suspends for some milliseconds of real time, before a busy log is tried again.
  package let pause: @Sendable (Int64) async -> Void
  /// Returns a random number, for the delay of the next attempt.
  package let jitter: @Sendable () -> UInt16

  /// Creates a runtime of these parts.
  package init(
    executor: any SerialExecutor,
    perform: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
    tasks: (any TaskExecutor)? = nil,
    pause: @escaping @Sendable (Int64) async -> Void = Self.sleep,
    jitter: @escaping @Sendable () -> UInt16 = { .random(in: 0 ... .max) }
  ) {
    (self.executor, self.perform, self.tasks) = (executor, perform, tasks)
    (self.pause, self.jitter) = (pause, jitter)
  }

  /// Sleeps by the system's clock; a clock of a test may stand still while another process commits.
  ///
  /// A cancelled task sleeps too: a close must wait as long as any other call.
  package static let sleep: @Sendable (Int64) async -> Void = { milliseconds in
    await Task.detached {
      do { try await ProcessTimers.shared.sleep(for: .milliseconds(milliseconds)) } catch {
        // This task is never cancelled.
      }
    }.value
  }

  /// Creates a runtime on threads that the sessions of the process share; first those for openings.
  ///
  /// They may block, and are outside the cooperative pool. Work that waits for another process must
  /// be in the pool for that.
  package static func system(on pool: WorkPool = .opening) -> SessionRuntime {
    let lane = WorkLane(on: pool)
    return SessionRuntime(executor: lane, perform: { lane.perform($0) })
  }

  /// Starts work that outlives the call.
  @Sendable
  package func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    spawn(returning: work)
  }

  /// Starts work with a result.
  package func spawn<Value: Sendable>(
    returning work: @escaping @Sendable () async -> Value
  ) -> Task<Value, Never> {
    Task(executorPreference: tasks, operation: work)
  }

  /// Moves the work of a session that is open now to the threads for sessions with such a log.
  ///
  /// The kind of the log is asked for only if there are such threads: that is a call of the system.
  func leaveOpenings(isLogLocal: @autoclosure () -> Bool) {
    (executor as? WorkLane)?.move(to: isLogLocal() ? .shared : .remote)
  }

  /// The runtime for reads that may take long: other threads than those of the sessions, unless a
  /// simulation decides the order.
  package var forLongReads: SessionRuntime { executor is WorkLane ? .system(on: .waiting) : self }

  /// Performs blocking work on a log, and tries again while another opening has the log.
  ///
  /// Throws `busy` after `limit`, and `cancelled` if the task is cancelled before another try.
  func result<Value: Sendable>(
    within limit: Duration, of work: @escaping @Sendable () throws(SessionError) -> Value
  ) async throws(SessionError) -> Value {
    var retry = BusyRetry(limit: limit)
    while true {
      do throws(SessionError) { return try await result(of: work) } catch {
        guard let failure = error.journalError, case .busy = failure else { throw error }
        switch retry.failed(failure) {
        case .again(let time): await pause(time)
        case .over(let failure): throw .journal(failure)
        }
        if Task.isCancelled { throw .cancelled }
      }
    }
  }

  /// Performs blocking work and returns its result.
  package func result<Value: Sendable, Failure: Error>(
    of work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
      perform {
        do throws(Failure) {
          continuation.resume(returning: .success(try work()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try result.get()
  }
}
