import Synchronization

/// A state that a lock protects, and the tasks that wait for something in it.
///
/// A task waits with a function that looks at the state and returns an answer, or `nil` to wait. After
/// each change, the waiting tasks are resumed in the order of arrival. They may look in any order.
package final class WaitableState<State: Sendable>: Sendable {
  // Seven types had continuations of their own, and five had tickets and a cancellation handler.
  // The order of these steps is hard to get right: a task must not miss a change between its look
  // and its wait, must be resumed once, and must not stay behind when it is cancelled. Waiters in a
  // lock of each owner were rejected, since each owner would repeat that. Not used where something
  // else decides who goes on: callers of the session (the coordinator), state of the engine (an
  // actor), threads of `SessionJournal` without a task, and a bridge to one callback.
  private struct Waiter {
    let ticket: UInt64
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct Guarded {
    var state: State
    /// The number of changes.
    ///
    /// A task that looked at the state before the last change must look again before it waits.
    var changes: UInt64 = 0
    /// The number of waits so far.
    var tickets: UInt64 = 0
    /// The waiting tasks, in the order of arrival.
    var waiters: [Waiter] = []

    mutating func takeWaiters() -> [Waiter] {
      changes &+= 1
      defer { waiters = [] }
      return waiters
    }
  }

  /// A wait that has begun: its number, and the changes that its task has seen.
  private struct Wait {
    let ticket: UInt64
    let changes: UInt64
    let endsOnCancellation: Bool
  }

  private let guarded: Mutex<Guarded>

  package init(_ state: State) {
    guarded = Mutex(Guarded(state: state))
  }

  // Never inlined: async functions call them before and after an `await`. A lock belongs to its
  // thread, and after an `await` a task may run on another thread than the optimizer assumes.

  /// Reads the state, or changes something in it for which no task waits.
  @inline(never)
  package func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    guarded.withLock { body(&$0.state) }
  }

  /// Changes the state, then lets the waiting tasks look at it again.
  @inline(never)
  package func change(_ body: (inout State) -> Void) {
    let waiters = guarded.withLock { guarded in
      body(&guarded.state)
      return guarded.takeWaiters()
    }
    for waiter in waiters { waiter.continuation.resume() }
  }

  /// Lets the waiting tasks look at the state again.
  package func resumeWaiters() { change { _ in } }

  /// The number of waiting tasks.
  package var waiterCount: Int {
    @inline(never) get { guarded.withLock { $0.waiters.count } }
  }

  /// Returns the first answer of `look`.
  ///
  /// Returns `nil` if the task is cancelled while it waits. `look` runs under the lock, and may change
  /// something for which no task waits.
  package func wait<Answer: Sendable>(
    isolation: isolated (any Actor)? = #isolation, for look: (inout State) -> Answer?
  ) async -> Answer? {
    while true {
      let (answer, wait) = attempt(look, endsOnCancellation: true)
      if let answer { return answer }
      await withTaskCancellationHandler {
        await withCheckedContinuation { park($0, wait) }
      } onCancel: {
        cancel(wait)
      }
      if Task.isCancelled { return nil }
    }
  }

  /// Returns the first answer of `look`, and waits for it even if the task is cancelled.
  package func answer<Answer: Sendable>(
    isolation: isolated (any Actor)? = #isolation, of look: (inout State) -> Answer?
  ) async -> Answer {
    while true {
      let (answer, wait) = attempt(look, endsOnCancellation: false)
      if let answer { return answer }
      await withCheckedContinuation { park($0, wait) }
    }
  }

  @inline(never)
  private func attempt<Answer: Sendable>(
    _ look: (inout State) -> Answer?, endsOnCancellation: Bool
  ) -> (Answer?, Wait) {
    guarded.withLock { guarded in
      let answer = look(&guarded.state)
      guarded.tickets &+= 1
      let wait = Wait(
        ticket: guarded.tickets, changes: guarded.changes, endsOnCancellation: endsOnCancellation)
      return (answer, wait)
    }
  }

  @inline(never)
  private func park(_ continuation: CheckedContinuation<Void, Never>, _ wait: Wait) {
    let isOver = guarded.withLock { guarded in
      // The cancellation handler needs the lock, so it finds every task that waits.
      let isCancelled = wait.endsOnCancellation && Task.isCancelled
      guard guarded.changes == wait.changes, !isCancelled else { return true }
      guarded.waiters.append(Waiter(ticket: wait.ticket, continuation: continuation))
      return false
    }
    if isOver { continuation.resume() }
  }

  private func cancel(_ wait: Wait) {
    let waiter = guarded.withLock { guarded -> Waiter? in
      let place = guarded.waiters.firstIndex { $0.ticket == wait.ticket }
      return place.map { guarded.waiters.remove(at: $0) }
    }
    waiter?.continuation.resume()
  }
}

/// Waits for the first of several endings.
///
/// Later endings are ignored.
final class Race<Ending: Sendable>: Sendable {
  private let ending = WaitableState<Ending?>(nil)

  func end(_ ending: Ending) {
    self.ending.change { first in if case .none = first { first = .some(ending) } }
  }

  /// Returns the first ending, and waits for it even if the task is cancelled.
  func first(isolation: isolated (any Actor)? = #isolation) async -> Ending {
    await ending.answer { $0 }
  }
}
