/// Callers that wait for a value, by number.
struct WaiterTable<Value: Sendable>: Sendable {
  private var waiting: [UInt64: CheckedContinuation<Value, Never>] = [:]
  private var count: UInt64 = 0

  /// Returns the number of the next wait.
  mutating func nextNumber() -> UInt64 {
    count += 1
    return count
  }

  /// Begins the wait of this number.
  mutating func begin(_ number: UInt64, _ continuation: CheckedContinuation<Value, Never>) {
    waiting[number] = continuation
  }

  /// Begins a wait that ends with all others.
  mutating func begin(_ continuation: CheckedContinuation<Value, Never>) {
    begin(nextNumber(), continuation)
  }

  /// Ends the wait of this number, unless it has ended.
  mutating func end(_ number: UInt64, with value: Value) {
    waiting.removeValue(forKey: number)?.resume(returning: value)
  }

  /// Ends every wait.
  mutating func endAll(with value: Value) {
    let ended = waiting.values
    waiting = [:]
    for continuation in ended { continuation.resume(returning: value) }
  }
}
