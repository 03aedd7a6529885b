internal import Synchronization

/// Values that threads borrow, so that their memory is used again.
final class Spares<Value: Sendable>: Sendable {
  private let kept = Mutex<[Value]>([])
  private let new: @Sendable () -> Value

  /// Creates an empty stock; `new` creates a value if all are borrowed.
  init(_ new: @escaping @Sendable () -> Value) { self.new = new }

  /// Returns a value that nothing else uses.
  func take() -> Value { kept.withLock { $0.popLast() } ?? new() }

  /// Keeps a value that is no longer used.
  func put(_ value: Value) { kept.withLock { $0.append(value) } }
}
