public import Foundation
public import SessionCore
import Synchronization

/// Sees the addresses that a sign-in's view goes to, and keeps what they say of errors.
///
/// May be told from any thread. It never keeps an address: of an error it has a code at most. How the errors
/// are read is in `Specs/WebSignIn.md`.
///
/// - Requirement: WEB-2
public final class RedirectObserver: Sendable {
  private struct State {
    var last: WebSignInProblem?
    /// What the sign-in is told, until another address withdraws it.
    var retained: Sighting?
    /// The errors that are kept for sequences, and the number of the first of them.
    var kept: [WebSignInProblem] = []
    var first: UInt64 = 0
    var isStopped = false
    var parked: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var tickets: UInt64 = 0

    var end: UInt64 { first + UInt64(kept.count) }

    mutating func takeParked() -> [CheckedContinuation<Void, Never>] {
      defer { parked = [:] }
      // Tickets are given out in the order of arrival.
      return parked.sorted { $0.key < $1.key }.map(\.value)
    }
  }

  private let state = Mutex(State())
  private let capacity: Int

  /// An observer that keeps so many errors for sequences that are behind; 1 at least.
  public init(keeping capacity: Int = 16) {
    self.capacity = max(1, capacity)
  }

  /// The view goes to this address.
  public func see(_ address: URL) { see(address.absoluteString) }

  /// The view goes to this address, which need not be one that a `URL` can be made of.
  public func see(_ address: String) {
    let sighting = Sighting(address)
    let parked: [CheckedContinuation<Void, Never>]? = state.withLock { state in
      guard !state.isStopped else { return nil }
      state.retained = Sighting.retained(state.retained, then: sighting)
      guard let problem = sighting.problem else { return nil }
      state.last = problem
      state.kept.append(problem)
      if state.kept.count > capacity {
        state.kept.removeFirst()
        state.first += 1
      }
      return state.takeParked()
    }
    for continuation in parked ?? [] { continuation.resume() }
  }

  /// What the sign-in is told: the last error, unless the page has gone on since (`Specs/WebSignIn.md`).
  package var retained: WebSignInProblem? { state.withLock { $0.retained?.problem } }

  /// The last error that was seen; `nil` where there was none since the last `reset()`.
  public var lastError: WebSignInProblem? { state.withLock { $0.last } }

  /// The errors that are kept, and those that are seen from now on.
  ///
  /// Any number of sequences; one that is behind misses what fell out of what is kept. Ends after `stop()`,
  /// once what is kept was given.
  public var errors: RedirectErrors { RedirectErrors(observer: self) }

  /// Forgets every error that was seen, for the sign-in too; goes on seeing.
  public func reset() {
    state.withLock { state in
      state.first = state.end
      state.kept = []
      (state.last, state.retained) = (nil, nil)
    }
  }

  /// Sees nothing any more, and ends every sequence; the last error stays.
  public func stop() {
    let parked = state.withLock { state in
      state.isStopped = true
      return state.takeParked()
    }
    for continuation in parked { continuation.resume() }
  }

  /// Whether it was stopped.
  public var isStopped: Bool { state.withLock { $0.isStopped } }

  /// How many sequences wait.
  package var waiterCount: Int { state.withLock { $0.parked.count } }

  /// The first error from this number on; waits until there is one, `nil` at the end.
  func next(_ number: inout UInt64) async -> WebSignInProblem? {
    while !Task.isCancelled {
      let look = look(from: number)
      number = look.number
      if let problem = look.problem {
        number += 1
        return problem
      }
      guard let ticket = look.ticket else { return nil }
      await wait(ticket, from: number)
    }
    return nil
  }

  private struct Look {
    var problem: WebSignInProblem?
    var number: UInt64
    /// Given where there is something to wait for.
    var ticket: UInt64?
  }

  // Never inlined: async functions look at it before and after an `await`, and a lock knows its thread.

  @inline(never)
  private func look(from number: UInt64) -> Look {
    state.withLock { state in
      let number = max(number, state.first)
      if number < state.end {
        return Look(problem: state.kept[Int(number - state.first)], number: number)
      }
      guard !state.isStopped else { return Look(number: number) }
      state.tickets += 1
      return Look(number: number, ticket: state.tickets)
    }
  }

  private func wait(_ ticket: UInt64, from number: UInt64) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { park($0, ticket, from: number) }
    } onCancel: {
      state.withLock { $0.parked.removeValue(forKey: ticket) }?.resume()
    }
  }

  @inline(never)
  private func park(
    _ continuation: CheckedContinuation<Void, Never>, _ ticket: UInt64, from number: UInt64
  ) {
    let isReady = state.withLock { state in
      guard number >= state.end, !state.isStopped, !Task.isCancelled else { return true }
      state.parked[ticket] = continuation
      return false
    }
    if isReady { continuation.resume() }
  }
}

/// The errors that an observer sees, each once, in order.
///
/// - Requirement: WEB-2
public struct RedirectErrors: AsyncSequence, Sendable {
  /// An error, by what of it may be shown.
  public typealias Element = WebSignInProblem
  /// It never fails.
  public typealias Failure = Never

  let observer: RedirectObserver

  /// Begins with the errors that are kept.
  public func makeAsyncIterator() -> Iterator { Iterator(observer: observer) }

  /// Walks from error to error.
  public struct Iterator: AsyncIteratorProtocol {
    private let observer: RedirectObserver
    private var number: UInt64 = 0

    init(observer: RedirectObserver) { self.observer = observer }

    /// Waits for an error that was not given yet; `nil` once the observer is stopped, or the task
    /// cancelled.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async
      -> WebSignInProblem?
    {
      await observer.next(&number)
    }
  }
}

extension RedirectObserver: CustomStringConvertible {
  /// The last error, never an address.
  public var description: String {
    "redirects, last error: \(lastError.map { "\($0)" } ?? "none")"
  }
}
