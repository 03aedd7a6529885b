import SessionCore

/// Which request a response with tokens came to.
enum TokenStep: Hashable, Sendable {
  case login, register, social, refresh, switchContext

  /// Whether its response may say who the user is from now on.
  var signsIn: Bool { self == .login || self == .register || self == .social }

  /// Whether the token that it was asked with is spent if the response holds this refresh token.
  func spends(_ refresh: Secret?) -> Bool {
    self == .refresh || self == .switchContext && refresh != nil
  }
}
