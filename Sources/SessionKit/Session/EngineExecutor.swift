import Dispatch

/// Runs an engine's jobs on a thread that may wait for the disk, off the cooperative pool.
final class EngineExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "session", qos: .userInitiated)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async {
      job.runSynchronously(on: self.asUnownedSerialExecutor())
    }
  }

  /// Runs blocking work on the same thread before there is an engine.
  func perform<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: work()) }
    }
  }
}
