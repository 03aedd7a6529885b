import Synchronization

/// Publishes the newest of several values to subscribers, which wait for newer ones.
///
/// A subscriber is only the number of the value that it received last. It receives the newest value
/// and skips values in between, so a slow subscriber never delays the publisher.
///
/// - Requirement: STA-7
package final class LatestValue<Value: Sendable>: Sendable {
  enum Answer {
    /// The newest value and its number.
    case value(Value, number: UInt64)
    /// No newer value will come.
    case finished
  }

  private struct State {
    var value: Value
    /// The number of the value, which grows by one with each value.
    var number: UInt64 = 1
    var parked: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var tickets: UInt64 = 0
    var isFinished = false
  }

  private let state: Mutex<State>

  package init(_ value: Value) {
    state = Mutex(State(value: value))
  }

  // Never inlined: async functions call them before and after an `await`, and a lock belongs to a
  // thread.

  package var current: Value {
    @inline(never) get { state.withLock { $0.value } }
  }

  /// Whether no newer value will come.
  var isFinished: Bool {
    @inline(never) get { state.withLock { $0.isFinished } }
  }

  /// Replaces the value and resumes the subscribers, unless `isRepeated` returns `true`.
  package func publish(_ value: Value, unless isRepeated: (Value) -> Bool = { _ in false }) {
    let parked = state.withLock { state in
      guard !isRepeated(state.value) else { return [CheckedContinuation<Void, Never>]() }
      state.value = value
      state.number += 1
      return Self.takeParked(&state)
    }
    for continuation in parked { continuation.resume() }
  }

  package func finish() {
    let parked = state.withLock { state in
      state.isFinished = true
      return Self.takeParked(&state)
    }
    for continuation in parked { continuation.resume() }
  }

  /// Returns the newest value after its number has changed.
  ///
  /// It waits for that, or until the task is cancelled.
  ///
  /// The last value is delivered before the end.
  func answer(after number: UInt64) async -> Answer {
    while true {
      let (answer, ticket) = look(after: number)
      if let answer { return answer }
      await wait(ticket, after: number)
      if Task.isCancelled { return .finished }
    }
  }

  private func wait(_ ticket: UInt64, after number: UInt64) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { park($0, ticket, after: number) }
    } onCancel: {
      state.withLock { $0.parked.removeValue(forKey: ticket) }?.resume()
    }
  }

  @inline(never)
  private func look(after number: UInt64) -> (Answer?, UInt64) {
    state.withLock { state in
      if state.number != number { return (.value(state.value, number: state.number), 0) }
      if state.isFinished { return (.finished, 0) }
      state.tickets += 1
      return (nil, state.tickets)
    }
  }

  @inline(never)
  private func park(
    _ continuation: CheckedContinuation<Void, Never>, _ ticket: UInt64, after number: UInt64
  ) {
    let isReady = state.withLock { state in
      guard state.number == number, !state.isFinished, !Task.isCancelled else { return true }
      state.parked[ticket] = continuation
      return false
    }
    if isReady { continuation.resume() }
  }

  private static func takeParked(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
    defer { state.parked.removeAll(keepingCapacity: true) }
    // Tickets are numbered in the order of arrival.
    return state.parked.sorted { $0.key < $1.key }.map(\.value)
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
