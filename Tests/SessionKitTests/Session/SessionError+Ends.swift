import SessionKit

extension SessionError {
  /// Whether it says that the session has expired, for whatever reason.
  var isExpired: Bool {
    if case .expired = self { true } else { false }
  }

  /// Whether it says that the session was logged out, for whatever reason.
  var isLoggedOut: Bool {
    if case .loggedOut = self { true } else { false }
  }
}
