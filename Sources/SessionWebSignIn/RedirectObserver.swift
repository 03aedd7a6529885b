public import Foundation
public import SessionCore
import Synchronization

/// Observes the addresses that a sign-in's view navigates to, and keeps the errors that they state.
///
/// It can be called on any thread. It never keeps an address, and of an error at most a code.
/// `Specs/WebSignIn.md` describes how errors are read.
///
/// - Requirement: WEB-2
public final class RedirectObserver: Sendable {
  private struct State {
    var last: WebSignInProblem?
    /// The error that the sign-in receives, until another address withdraws it.
    var retained: Sighting?
    /// The errors that are kept for sequences, and the number of the first one.
    var kept: [WebSignInProblem] = []
    var first: UInt64 = 0
    var isStopped = false
    var parked: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var tickets: UInt64 = 0

    var end: UInt64 { first + UInt64(kept.count) }

    mutating func takeParked() -> [CheckedContinuation<Void, Never>] {
      defer { parked = [:] }
      // Tickets are numbered in the order of arrival.
      return parked.sorted { $0.key < $1.key }.map(\.value)
    }
  }

  private let state = Mutex(State())
  private let capacity: Int

  /// Creates an observer that keeps this number of errors for slow sequences, at least 1.
  public init(keeping capacity: Int = 16) {
    self.capacity = max(1, capacity)
  }

  /// Records that the view navigates to this address.
  public func see(_ address: URL) { see(address.absoluteString) }

  /// Records that the view navigates to this address, which need not be a valid `URL`.
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

  /// The error that the sign-in receives: the last one, unless the page has continued since
  /// (`Specs/WebSignIn.md`).
  package var retained: WebSignInProblem? { state.withLock { $0.retained?.problem } }

  /// The last error since the last `reset()`; `nil` if there was none.
  public var lastError: WebSignInProblem? { state.withLock { $0.last } }

  /// The kept errors, then those that are observed from now on.
  ///
  /// There may be any number of sequences. A slow one misses errors that are not kept any more. A
  /// sequence ends after `stop()`, when the kept errors are delivered.
  public var errors: RedirectErrors { RedirectErrors(observer: self) }

  /// Discards every error, also for the sign-in.
  ///
  /// Observation continues.
  public func reset() {
    state.withLock { state in
      state.first = state.end
      state.kept = []
      (state.last, state.retained) = (nil, nil)
    }
  }

  /// Stops the observation and ends every sequence.
  ///
  /// The last error stays.
  public func stop() {
    let parked = state.withLock { state in
      state.isStopped = true
      return state.takeParked()
    }
    for continuation in parked { continuation.resume() }
  }

  /// Whether the observation was stopped.
  public var isStopped: Bool { state.withLock { $0.isStopped } }

  /// The number of sequences that wait.
  package var waiterCount: Int { state.withLock { $0.parked.count } }

  /// Returns the first error from this number on.
  ///
  /// Waits until there is one; `nil` at the end.
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
    /// The ticket with which to wait; `nil` if there is nothing to wait for.
    var ticket: UInt64?
  }

  // Never inlined: async functions call it before and after an `await`, and a lock belongs to its
  // thread.

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

/// The errors that an observer finds, each one once, in order.
///
/// - Requirement: WEB-2
public struct RedirectErrors: AsyncSequence, Sendable {
  /// An error, with only those values that may be shown.
  public typealias Element = WebSignInProblem
  /// It never fails.
  public typealias Failure = Never

  let observer: RedirectObserver

  /// Returns an iterator that begins with the kept errors.
  public func makeAsyncIterator() -> Iterator { Iterator(observer: observer) }

  /// Iterates over the errors.
  public struct Iterator: AsyncIteratorProtocol {
    private let observer: RedirectObserver
    private var number: UInt64 = 0

    init(observer: RedirectObserver) { self.observer = observer }

    /// Waits for an error that was not delivered yet.
    ///
    /// Returns `nil` after the observer was stopped or the task was cancelled.
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
