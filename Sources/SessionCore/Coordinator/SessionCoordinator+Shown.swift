extension SessionCoordinator {
  /// What a session shows of its decisions.
  package struct Shown: Sendable {
    package let state: SessionState
    package let activity: SessionActivity
    package let loginError: CommandFailure?
    package let endCause: EndCause
    /// What the user is needed for; `nil` if no user is needed.
    package let need: OpenNeed?
    package let isLocked: Bool
    /// When the current token expires, on the clock that never jumps.
    package let tokenDeadline: Int64
    package let lastUse: Int64
    package let lifetimeEnd: Int64
    /// The sequence of the last event.
    package let eventSequence: UInt64
  }

  /// The values of the coordinator on which what is shown depends.
  ///
  /// The state itself changes only with an event, or with the records of others.
  package struct ShownInputs: Equatable, Sendable {
    private let eventSequence: UInt64
    private let activity: SessionActivity
    private let problem: CommandFailure?
    private let tokenDeadline: Int64
    private let lastUse: Int64
    private let lifetimeEnd: Int64
    private let need: OpenNeed?
    private let isLocked: Bool

    fileprivate init(_ coordinator: borrowing SessionCoordinator) {
      eventSequence = coordinator.fold.eventSequence
      activity = coordinator.activity
      problem = coordinator.lastProblem
      tokenDeadline = coordinator.tokenDeadline
      lastUse = coordinator.lastUse
      lifetimeEnd = coordinator.lifetimeEnd
      need = coordinator.fold.intents.need
      isLocked = coordinator.isLocked
    }
  }

  /// Returns the values on which what is shown depends; mutating for the reason of ``shown()``.
  package mutating func shownInputs() -> ShownInputs { ShownInputs(self) }

  /// Returns the user of the session; mutating for the reason of ``shown()``.
  package mutating func currentUser() -> Identifier? { fold.user }

  /// Returns the lifetime of the current token in milliseconds; mutating for the reason of ``shown()``.
  package mutating func tokenLifetime() -> Int64? { fold.state.token?.lifetimeMilliseconds }

  /// Whether a request waits to be journaled, as ``isHolding(_:)``; mutating for the reason of
  /// ``shown()``.
  package mutating func holds(_ request: RequestNumber) -> Bool { isHolding(request) }

  /// Whether a request may be sent, as ``mayLeave(_:)``; mutating for the reason of ``shown()``.
  package mutating func permits(_ number: RequestNumber) -> Bool { mayLeave(number) }

  /// Whether a request is the login under way, as ``isSignIn(_:)``; mutating for the reason of
  /// ``shown()``.
  package mutating func signsIn(by number: RequestNumber) -> Bool { isSignIn(number) }

  /// Whether a request is a login of the signed-in user; mutating for the reason of ``shown()``.
  package mutating func reauthenticates(by number: RequestNumber) -> Bool {
    reauthentication.has(number)
  }

  /// Returns what the session shows.
  ///
  /// It changes nothing. It is mutating so that the engine passes its coordinator and not a copy of all
  /// machines, which it would make for each property that it reads.
  package mutating func shown() -> Shown {
    Shown(
      state: state, activity: activity, loginError: loginError, endCause: endCause,
      need: fold.intents.need, isLocked: isLocked, tokenDeadline: tokenDeadline, lastUse: lastUse,
      lifetimeEnd: lifetimeEnd,
      eventSequence: fold.eventSequence)
  }
}
