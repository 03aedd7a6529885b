extension SessionCoordinator {
  /// What a session shows of its decisions.
  package struct Shown: Sendable {
    package let state: SessionState
    package let activity: SessionActivity
    package let loginError: CommandFailure?
    package let endCause: EndCause
    /// When the current token expires, on the clock that never jumps.
    package let tokenDeadline: Int64
    package let lastUse: Int64
    package let lifetimeEnd: Int64
    /// The sequence of the last event.
    package let eventSequence: UInt64
  }

  /// Returns what the session shows.
  ///
  /// It changes nothing. It is mutating so that the engine passes its coordinator and not a copy of all
  /// machines, which it would make for each property that it reads.
  package mutating func shown() -> Shown {
    Shown(
      state: state, activity: activity, loginError: loginError, endCause: endCause,
      tokenDeadline: tokenDeadline, lastUse: lastUse, lifetimeEnd: lifetimeEnd,
      eventSequence: fold.eventSequence)
  }
}
