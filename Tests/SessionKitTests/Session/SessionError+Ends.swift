import SessionKit

extension SessionError {
  /// Whether the error says that the session has expired, for any reason.
  var isExpired: Bool {
    code == .expired
  }

  /// Whether the error says that the session was logged out, for any reason.
  var isLoggedOut: Bool {
    code == .loggedOut
  }
}
