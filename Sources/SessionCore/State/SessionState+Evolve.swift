extension SessionState {
  /// Returns the state after `event`, or throws a rejection that names both.
  ///
  /// Defined for all 3 states and 6 events; reads no clock and never traps.
  ///
  /// - Requirement: STA-2
  public func evolved(by event: SessionEvent, at time: Timestamp) throws(SessionRejection)
    -> SessionState
  {
    var foldState = FoldState(self)
    try foldState.apply(event, at: time)
    return foldState.state
  }

  /// Changes to the state after `event`; if it throws, nothing changes.
  public mutating func evolve(_ event: SessionEvent, at time: Timestamp) throws(SessionRejection) {
    self = try evolved(by: event, at: time)
  }

  /// Whether `event` is allowed in this state.
  public func allows(_ event: SessionEvent) -> Bool {
    do {
      _ = try evolved(by: event, at: Timestamp(milliseconds: 0))
      return true
    } catch {
      return false
    }
  }
}
