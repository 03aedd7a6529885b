import SessionCore

/// The kind of request that returned a response with tokens.
enum TokenStep: Hashable, Sendable {
  case login, register, social, refresh, switchContext

  /// Whether the response may name a new user of the session.
  var signsIn: Bool { self == .login || self == .register || self == .social }

  /// Returns whether the request's token is consumed if the response contains this refresh token.
  func spends(_ refresh: Secret?) -> Bool {
    self == .refresh || self == .switchContext && refresh != nil
  }
}
