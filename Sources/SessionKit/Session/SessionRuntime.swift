import Dispatch

/// Where a session's work runs: a seam, so that a simulation can decide what comes next.
package struct SessionRuntime: Sendable {
  /// Runs the engine's jobs, one at a time.
  package let executor: any SerialExecutor
  /// Runs work that may wait for the disk, in its turn between the engine's jobs.
  package let perform: @Sendable (@escaping @Sendable () -> Void) -> Void
  /// Starts work that outlives the call.
  package let spawn: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
  /// A random number, for the delay of the next attempt.
  package let jitter: @Sendable () -> UInt16

  /// A runtime of these parts.
  package init(
    executor: any SerialExecutor,
    perform: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
    spawn: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>,
    jitter: @escaping @Sendable () -> UInt16 = { .random(in: 0 ... .max) }
  ) {
    (self.executor, self.perform, self.spawn) = (executor, perform, spawn)
    self.jitter = jitter
  }

  /// A thread of its own that may wait, off the cooperative pool.
  package static func system() -> SessionRuntime {
    let executor = QueueExecutor()
    return SessionRuntime(
      executor: executor, perform: { work in executor.queue.async { work() } },
      spawn: { work in Task { await work() } })
  }

  /// Performs blocking work and returns what it returns.
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

/// Runs an actor's jobs on a dispatch queue.
private final class QueueExecutor: SerialExecutor {
  let queue = DispatchQueue(label: "session", qos: .userInitiated)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
