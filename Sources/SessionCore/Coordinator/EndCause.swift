/// Why a session ended, as far as known.
///
/// - Requirement: LOG-13
package struct EndCause: Hashable, Sendable {
  /// Why it expired; `nil` if it did not expire, or if that is unknown.
  package var expiry: ExpiryReason?
  /// Why it was logged out; `nil` if it only expired, or if that is unknown.
  package var logout: LogoutReason?
  /// The failure that caused the end, with the server's status and code; `nil` if none is known.
  package var failure: RequestFailure?

  /// Creates a cause.
  package init(
    expiry: ExpiryReason? = nil, logout: LogoutReason? = nil, failure: RequestFailure? = nil
  ) {
    (self.expiry, self.logout, self.failure) = (expiry, logout, failure)
  }

  /// Takes in an event; `failure` is its cause, unless that is a failed refresh.
  mutating func take(_ event: SessionEvent, _ failure: RequestFailure?) {
    switch event {
    case .login, .refreshSucceeded: self = EndCause()
    case .refreshFailed(let refresh): self = EndCause(failure: refresh.failure)
    case .contextSwitched: break
    case .sessionExpired(let expired):
      (expiry, logout, self.failure) = (expired.reason, nil, failure ?? self.failure)
      if !expired.reason.followsFailure { self.failure = nil }
    case .logout(let logout):
      self.logout = logout.reason
      if logout.reason == .userDeleted { self.failure = failure ?? self.failure }
      if logout.reason == .user, expiry == nil { self.failure = nil }
    }
  }
}

extension ExpiryReason {
  /// Whether a failed request caused the expiry.
  fileprivate var followsFailure: Bool {
    self == .refreshRejected || self == .attemptsExhausted || self == .userInactive
      || self == .endedByServer
  }
}

extension EndCause: CustomStringConvertible {
  /// The cause as text, without missing parts: `refreshRejected: rejected 401 TOKEN_REUSED; logout
  /// by policy`.
  package var description: String {
    var text = expiry?.description ?? ""
    if let failure { text += (text.isEmpty ? "" : ": ") + failure.description }
    if let logout { text += (text.isEmpty ? "" : "; ") + "logout by \(logout)" }
    return text
  }
}

extension SessionCoordinator {
  /// Remembers an event that may end the session, and its cause.
  mutating func noteEnd(_ event: SessionEvent, by failure: RequestFailure?) {
    lastEnd.take(event, failure)
  }

  /// Why the session has ended; empty if this process does not know.
  package var endCause: EndCause {
    if lastEnd.expiry != nil || lastEnd.logout != nil { return lastEnd }
    guard case .expired(let session) = state else { return EndCause() }
    return EndCause(expiry: session.reason)
  }
}
