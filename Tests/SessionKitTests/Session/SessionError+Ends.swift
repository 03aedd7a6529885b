import SessionKit

extension SessionError {
  /// Whether it says that the session has expired, for any reason.
  var isExpired: Bool {
    code == .expired
  }

  /// Whether it says that the session was logged out, for any reason.
  var isLoggedOut: Bool {
    code == .loggedOut
  }
}
