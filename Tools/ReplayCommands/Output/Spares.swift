internal import Synchronization

/// Values that threads lend out in turn, so that their memory is used again.
final class Spares<Value: Sendable>: Sendable {
  private let kept = Mutex<[Value]>([])
  private let new: @Sendable () -> Value

  /// Creates spares of which none is there yet; `new` creates one if all are lent.
  init(_ new: @escaping @Sendable () -> Value) { self.new = new }

  /// Returns a value that nothing else uses.
  func take() -> Value { kept.withLock { $0.popLast() } ?? new() }

  /// Keeps a value that is no longer used.
  func put(_ value: Value) { kept.withLock { $0.append(value) } }
}
