extension SessionState {
  /// The state after `event`, or the rejection that names both.
  ///
  /// Total over 3 states × 6 events; touches no clock and never traps.
  ///
  /// - Requirement: STA-2
  public func evolved(by event: SessionEvent, at time: Timestamp) throws(SessionRejection)
    -> SessionState
  {
    var foldState = FoldState(self)
    try foldState.apply(event, at: time)
    return foldState.state
  }

  /// Moves to the state after `event`, or throws and stays.
  public mutating func evolve(_ event: SessionEvent, at time: Timestamp) throws(SessionRejection) {
    self = try evolved(by: event, at: time)
  }

  /// Whether the state has a successor by `event`.
  public func allows(_ event: SessionEvent) -> Bool {
    do {
      _ = try evolved(by: event, at: Timestamp(milliseconds: 0))
      return true
    } catch {
      return false
    }
  }
}
