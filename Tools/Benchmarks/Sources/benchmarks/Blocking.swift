internal import Dispatch
internal import Synchronization

/// Runs tasks on the cooperative pool and waits for them on the calling thread, which is not of it.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws
  -> Value
{
  let outcome = Outcome<Value>()
  let isDone = DispatchSemaphore(value: 0)
  Task {
    do {
      let value = try await work()
      outcome.result.withLock { $0 = .success(value) }
    } catch {
      outcome.result.withLock { $0 = .failure(error) }
    }
    isDone.signal()
  }
  isDone.wait()
  guard let result = outcome.result.withLock({ $0 }) else {
    throw Problem("a task ended without an outcome")
  }
  return try result.get()
}

private final class Outcome<Value: Sendable>: Sendable {
  let result = Mutex<Result<Value, any Error>?>(nil)
}
