public import SessionCore

/// What a session shows at one moment.
///
/// It contains no token and no secret. The user's name and address are in `user`, whose description
/// shows only the identifier.
///
/// - Requirement: STA-3, STA-7
public struct SessionStatus: Hashable, Sendable {
  /// The state that results from folding the events.
  public let state: SessionState
  /// What the process is doing for the session.
  public let activity: SessionActivity
  /// The profile of the session's user; `nil` if there is no user.
  public let user: UserProfile?
  /// The sequence of the last event in the state; 0 before the first event.
  public let sequence: UInt64
  /// Whether records or stored items could not be read or written, or an item is missing.
  ///
  /// `Session.storageProblem` says why.
  public let hasStorageProblem: Bool

  /// Why and when a session ended last; see ``Session/lastEnd``.
  public let lastEnd: SessionEnd?

  /// Why the last sign-in failed, until the app clears it or tries again; `nil` unless ``activity``
  /// is `failed`.
  ///
  /// - Requirement: STA-3
  public let loginError: SessionError?

  /// What the server needs the user for; `nil` if it needs no user.
  ///
  /// ``Session/userNeeded`` says when it ends.
  ///
  /// - Requirement: STA-9
  public let userNeeded: UserNeed?

  /// Whether no caller receives a token until the app unlocks the session; see ``Session/lock()``.
  ///
  /// - Requirement: ACC-2
  public let isLocked: Bool

  /// Creates a status.
  public init(
    state: SessionState = .unauthenticated, activity: SessionActivity = .loading,
    user: UserProfile? = nil, sequence: UInt64 = 0, hasStorageProblem: Bool = false,
    lastEnd: SessionEnd? = nil, loginError: SessionError? = nil, userNeeded: UserNeed? = nil,
    isLocked: Bool = false
  ) {
    self.state = state
    self.activity = activity
    self.user = user
    self.sequence = sequence
    self.hasStorageProblem = hasStorageProblem
    self.lastEnd = lastEnd
    self.loginError = loginError
    self.userNeeded = userNeeded
    self.isLocked = isLocked
  }

  /// Whether a user is signed in and the session has not expired.
  public var isAuthenticated: Bool { state.kind == .authenticated }

  /// The role, school and unit in which the user acts; `nil` unless authenticated with a context.
  public var activeContext: ActiveContext? { state.activeContext }

  /// Why the session has expired; `nil` unless it has.
  public var expiryReason: ExpiryReason? {
    guard case .expired(let session) = state else { return nil }
    return session.reason
  }

  /// Whether a request that may change the token is in progress.
  ///
  /// Its response should be awaited.
  public var isBusy: Bool {
    switch activity {
    case .authenticating, .refreshing, .switching: true
    case .loading, .idle, .failed, .replaced: false
    }
  }
}

extension SessionStatus {
  /// Creates the part of a snapshot that subscribers can wait for.
  init(_ shown: SessionView.Snapshot, sequence: UInt64, uptime: Int64) {
    self.init(
      state: shown.state, activity: shown.activity, user: shown.user, sequence: sequence,
      hasStorageProblem: shown.storageProblem != nil, lastEnd: shown.lastEnd,
      loginError: shown.loginError, userNeeded: shown.userNeeded(at: uptime),
      isLocked: shown.isLocked)
  }
}

extension SessionStatus: CustomStringConvertible {
  /// One line, such as `authenticated, refreshing, as of 12`; `locked` is said after the state.
  public var description: String {
    "\(state.kind)\(isLocked ? ", locked" : ""), \(activity), as of \(sequence)"
  }
}

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
