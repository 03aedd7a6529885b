public import Foundation
public import SessionCore
import SessionKit

/// Observes the addresses that a sign-in's view navigates to, and keeps the errors that they state.
///
/// It can be called on any thread. It never keeps an address, and of an error at most a code.
/// `Specs/WebSignIn.md` describes how errors are read.
///
/// - Requirement: WEB-2
public final class RedirectObserver: Sendable {
  private struct State: Sendable {
    var last: WebSignInProblem?
    /// The error that the sign-in receives, until another address withdraws it.
    var retained: Sighting?
    /// The errors that are kept for sequences, and the number of the first one.
    var kept: [WebSignInProblem] = []
    var first: UInt64 = 0
    var isStopped = false

    var end: UInt64 { first + UInt64(kept.count) }
  }

  private let state = WaitableState(State())
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
    let isNews = state.withLock { state in
      guard !state.isStopped else { return false }
      state.retained = Sighting.retained(state.retained, then: sighting)
      guard let problem = sighting.problem else { return false }
      state.last = problem
      state.kept.append(problem)
      if state.kept.count > capacity {
        state.kept.removeFirst()
        state.first += 1
      }
      return true
    }
    if isNews { state.resumeWaiters() }
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
    state.change { $0.isStopped = true }
  }

  /// Whether the observation was stopped.
  public var isStopped: Bool { state.withLock { $0.isStopped } }

  /// The number of sequences that wait.
  package var waiterCount: Int { state.waiterCount }

  /// Returns the first error from this number on.
  ///
  /// Waits until there is one; `nil` at the end.
  func next(_ number: inout UInt64) async -> WebSignInProblem? {
    guard !Task.isCancelled else { return nil }
    let start = number
    let found = await state.wait { state -> (problem: WebSignInProblem?, next: UInt64)? in
      let number = max(start, state.first)
      if number < state.end { return (state.kept[Int(number - state.first)], number + 1) }
      return state.isStopped ? (nil, number) : nil
    }
    number = found?.next ?? number
    return found?.problem
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

/// The data that is kept of an address: its error, and what decides how long the error counts.
private struct Sighting: Hashable, Sendable {
  /// The error; `nil` if the address states none.
  let problem: WebSignInProblem?
  private let place: Place
  /// A hash of the page's address without its fragment.
  ///
  /// The address cannot be derived from it.
  private let page: Int

  private enum Place: Hashable {
    /// A web page.
    case page
    /// The app's own scheme, at which the page ends.
    case redirect
    /// No page, such as `about:blank`.
    case nowhere
  }

  init(_ address: String) {
    problem = RedirectReader.problem(in: address)
    let start = address.utf8.prefix { $0 != UInt8(ascii: "#") }
    page = Array(start).hashValue
    guard let colon = start.prefix(64).firstIndex(of: UInt8(ascii: ":")),
      start[colon...].starts(with: "://".utf8)
    else {
      place = .nowhere
      return
    }
    let scheme = String(decoding: start[..<colon], as: UTF8.self).lowercased()
    place = scheme == "http" || scheme == "https" ? .page : .redirect
  }

  /// Returns the sighting that counts after another address is seen.
  ///
  /// - A newer error replaces an older one.
  /// - A page without an error withdraws an older error, because the user continued.
  /// - Only another redirect withdraws the error of the app's own redirect. After it, a view may
  ///   show the earlier page again.
  /// - The same page with another fragment withdraws nothing, and neither does an address that is
  ///   no page.
  static func retained(_ before: Sighting?, then next: Sighting) -> Sighting? {
    guard let before, next.place != .nowhere || next.problem != nil else {
      return next.problem == nil ? before : next
    }
    guard before.place != .redirect || next.place == .redirect else { return before }
    guard next.problem == nil else { return next }
    return before.page == next.page ? before : nil
  }
}
