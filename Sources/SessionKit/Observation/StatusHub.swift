import Synchronization

/// Where subscribers wait for a newer status: one place for all of them (STA-7).
///
/// A subscriber is the number of the status that it saw last, nothing more, and is given the newest
/// one: what came in between is passed over, and a slow subscriber holds nothing back.
final class StatusHub: Sendable {
  enum Answer {
    /// The newest status and its number.
    case status(SessionStatus, number: UInt64)
    /// There will be none.
    case finished
  }

  private struct State {
    var status = SessionStatus()
    /// Grows by one with each status that differs from the one before.
    var number: UInt64 = 1
    var parked: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var tickets: UInt64 = 0
    var isFinished = false
  }

  private let state = Mutex(State())

  // Never inlined: async functions look at it before and after an `await`, and a lock knows its thread.

  var current: SessionStatus {
    @inline(never) get { state.withLock { $0.status } }
  }

  /// Whether no newer one will come.
  var isFinished: Bool {
    @inline(never) get { state.withLock { $0.isFinished } }
  }

  /// Takes a status in; one that says nothing new is none.
  func publish(_ status: SessionStatus) {
    let parked = state.withLock { state in
      guard state.status != status else { return [CheckedContinuation<Void, Never>]() }
      state.status = status
      state.number += 1
      return Self.takeParked(&state)
    }
    for continuation in parked { continuation.resume() }
  }

  func finish() {
    let parked = state.withLock { state in
      state.isFinished = true
      return Self.takeParked(&state)
    }
    for continuation in parked { continuation.resume() }
  }

  /// The newest status that has another number; waits until there is one, or the task is cancelled.
  ///
  /// What was shown last is told before the end is.
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
      if state.number != number { return (.status(state.status, number: state.number), 0) }
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
    // Tickets are given out in the order of arrival.
    return state.parked.sorted { $0.key < $1.key }.map(\.value)
  }
}
