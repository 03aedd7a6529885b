/// An event or command that is not allowed in the session's state.
public struct SessionRejection: Error, Hashable, Sendable, CustomStringConvertible {
  /// Why the event is not allowed.
  public enum Reason: String, CaseIterable, Sendable {
    /// No user is logged in.
    case notAuthenticated = "notAuthenticated"
    /// A user is already logged in.
    case alreadyAuthenticated = "alreadyAuthenticated"
    /// The session has expired.
    case expired = "expired"
    /// The expired session belongs to another user, whose data must be settled first.
    ///
    /// - Requirement: STA-6
    case differentUser = "differentUser"
    /// The event names a token that is not the current one, or announces one that is not newer.
    case staleGeneration = "staleGeneration"
  }

  /// The state of the session.
  public let state: SessionState.Kind
  /// The event that was rejected.
  public let event: SessionEvent.Kind
  /// Why the event was rejected.
  public let reason: Reason

  /// Creates a rejection.
  public init(state: SessionState.Kind, event: SessionEvent.Kind, reason: Reason) {
    self.state = state
    self.event = event
    self.reason = reason
  }

  /// A sentence with state, event and reason.
  public var description: String {
    let because =
      switch reason {
      case .notAuthenticated: "no user is logged in"
      case .alreadyAuthenticated: "a user is already logged in; log out first"
      case .expired: "the session has expired; log in again or log out"
      case .differentUser:
        "the expired session belongs to another user, whose data must be handled first; log out"
      case .staleGeneration: "it does not refer to the current token"
      }
    return "\(event) is not possible while \(state): \(because)"
  }
}
