internal import Dispatch
internal import Synchronization

/// Runs work in a task and waits for it on the calling thread, which must not belong to the
/// cooperative pool.
@discardableResult
func blocking<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws
  -> Value
{
  let outcome = Outcome<Value>()
  let isDone = DispatchSemaphore(value: 0)
  Task {
    do {
      outcome.set(.success(try await work()))
    } catch {
      outcome.set(.failure(error))
    }
    isDone.signal()
  }
  isDone.wait()
  guard let result = outcome.current else {
    throw Problem("a task ended without an outcome")
  }
  return try result.get()
}

private final class Outcome<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)

  var current: Result<Value, any Error>? { result.withLock { $0 } }

  // If this were inlined into a task, the lock could use the thread of before the last suspension.
  @inline(never)
  func set(_ next: Result<Value, any Error>) {
    result.withLock { $0 = next }
  }
}
