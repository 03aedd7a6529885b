/// Publishes the newest of several values to subscribers, which wait for newer ones.
///
/// A subscriber is only the number of the value that it received last. It receives the newest value
/// and skips values in between, so a slow subscriber never delays the publisher.
///
/// - Requirement: STA-7
package final class LatestValue<Value: Sendable>: Sendable {
  enum Answer: Sendable {
    /// The newest value and its number.
    case value(Value, number: UInt64)
    /// No newer value will come.
    case finished
  }

  private struct State {
    var value: Value
    /// The number of the value, which grows by one with each value.
    var number: UInt64 = 1
    var isFinished = false
  }

  private let state: WaitableState<State>

  package init(_ value: Value) {
    state = WaitableState(State(value: value))
  }

  package var current: Value { state.withLock { $0.value } }

  /// Whether no newer value will come.
  var isFinished: Bool { state.withLock { $0.isFinished } }

  /// Replaces the value and resumes the subscribers, unless `isRepeated` returns `true`.
  package func publish(_ value: Value, unless isRepeated: (Value) -> Bool = { _ in false }) {
    let isNew = state.withLock { state in
      guard !isRepeated(state.value) else { return false }
      state.value = value
      state.number += 1
      return true
    }
    if isNew { state.resumeWaiters() }
  }

  package func finish() {
    state.change { $0.isFinished = true }
  }

  /// Returns the newest value after its number has changed.
  ///
  /// It waits for that, or until the task is cancelled.
  ///
  /// The last value is delivered before the end.
  func answer(after number: UInt64) async -> Answer {
    await state.wait { state in
      if state.number != number { return .value(state.value, number: state.number) }
      return state.isFinished ? .finished : nil
    } ?? .finished
  }
}

extension LatestValue {
  /// The newest value, then each newer one.
  ///
  /// It ends when the publisher has finished or the task is cancelled.
  package struct Values: AsyncSequence, Sendable {
    let source: LatestValue

    package func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    package struct Iterator: AsyncIteratorProtocol {
      let source: LatestValue
      private var number: UInt64 = 0

      init(source: LatestValue) { self.source = source }

      package mutating func next(isolation actor: isolated (any Actor)? = #isolation) async
        -> Value?
      {
        if Task.isCancelled { return nil }
        switch await source.answer(after: number) {
        case .value(let value, let number):
          self.number = number
          return value
        case .finished:
          return nil
        }
      }
    }
  }

  package var values: Values { Values(source: self) }
}

/// The status that a session shows.
typealias StatusHub = LatestValue<SessionStatus>

extension LatestValue where Value == SessionStatus {
  convenience init() { self.init(SessionStatus()) }

  /// Publishes a status unless it equals the previous one.
  func publish(_ status: SessionStatus) {
    publish(status) { $0 == status }
  }
}
