import Dispatch

/// The threads and tasks on which a session's work runs.
///
/// A simulation replaces it to decide the order of steps.
package struct SessionRuntime: Sendable {
  /// Runs the engine's jobs, one at a time.
  package let executor: any SerialExecutor
  /// Runs work that may wait for the disk, in turn with the engine's jobs.
  package let perform: @Sendable (@escaping @Sendable () -> Void) -> Void
  /// Starts work that outlives the call.
  package let spawn: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
  /// Returns a random number, for the delay of the next attempt.
  package let jitter: @Sendable () -> UInt16

  /// Creates a runtime of these parts.
  package init(
    executor: any SerialExecutor,
    perform: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
    spawn: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>,
    jitter: @escaping @Sendable () -> UInt16 = { .random(in: 0 ... .max) }
  ) {
    (self.executor, self.perform, self.spawn) = (executor, perform, spawn)
    self.jitter = jitter
  }

  /// Creates a runtime with its own thread, which may block, outside the cooperative pool.
  package static func system() -> SessionRuntime {
    let executor = QueueExecutor()
    return SessionRuntime(
      executor: executor, perform: { work in executor.queue.async { work() } },
      spawn: { work in Task { await work() } })
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

/// Runs an actor's jobs on a dispatch queue.
private final class QueueExecutor: SerialExecutor {
  let queue = DispatchQueue(label: "session", qos: .userInitiated)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
