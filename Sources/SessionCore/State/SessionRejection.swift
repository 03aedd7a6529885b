/// The answer to an event or a command that a session's state does not allow.
public struct SessionRejection: Error, Hashable, Sendable, CustomStringConvertible {
  /// Why it is not allowed.
  public enum Reason: String, CaseIterable, Sendable {
    /// Nobody is signed in.
    case notAuthenticated = "notAuthenticated"
    /// Somebody is signed in already.
    case alreadyAuthenticated = "alreadyAuthenticated"
    /// The session has expired.
    case expired = "expired"
    /// The expired session belongs to another user, whose data must be settled first.
    ///
    /// - Requirement: STA-6
    case differentUser = "differentUser"
    /// It speaks of a token that is not the current one, or announces one that is not newer.
    case staleGeneration = "staleGeneration"
  }

  /// The state that the session is in.
  public let state: SessionState.Kind
  /// The event that was rejected.
  public let event: SessionEvent.Kind
  /// Why.
  public let reason: Reason

  /// A rejection.
  public init(state: SessionState.Kind, event: SessionEvent.Kind, reason: Reason) {
    self.state = state
    self.event = event
    self.reason = reason
  }

  /// A sentence that names state, event and reason.
  public var description: String {
    let because =
      switch reason {
      case .notAuthenticated: "nobody is signed in"
      case .alreadyAuthenticated: "somebody is signed in already; log out first"
      case .expired: "the session has expired; sign in again or log out"
      case .differentUser:
        "the expired session belongs to another user, whose data must be settled first; log out"
      case .staleGeneration: "it does not speak of the current token"
      }
    return "\(event) is not possible while \(state): \(because)"
  }
}
