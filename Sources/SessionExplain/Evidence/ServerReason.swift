import SessionCore

/// A reason for a refusal that the server's code states, without any other record.
///
/// The table *Codes* of `Specs/Why.md` has the codes.
enum ServerReason: String, CaseIterable, Sendable {
  case passwordChanged = "password changed"
  /// The code is also sent if an administrator revokes the user's sessions.
  case perhapsPassword = "password changed, or revoked"
  case administrator = "administrator"
  case sessionLimit = "session limit"
  case allSessions = "all sessions"
  /// A new sign-in, a further factor or a consent is demanded.
  case signIn = "sign-in"

  var codes: [String] {
    switch self {
    case .passwordChanged:
      ["PASSWORD_CHANGED", "PASSWORD_RESET", "PASSWORD_UPDATED", "CREDENTIALS_CHANGED"]
    // Entra: the session is not valid "due to password expiration or recent password change", and
    // the grant was revoked: "the user might have changed or reset their password".
    case .perhapsPassword: ["AADSTS50132", "AADSTS50133", "AADSTS50173"]
    case .administrator:
      [
        "REVOKED_BY_ADMIN", "SESSION_REVOKED_BY_ADMIN", "TOKEN_REVOKED_BY_ADMIN",
        "TERMINATED_BY_ADMIN", "ADMIN_REVOKED", "ADMIN_LOGOUT", "ADMIN_SIGN_OUT",
      ]
    case .sessionLimit:
      [
        "SESSION_LIMIT", "SESSION_LIMIT_REACHED", "SESSION_LIMIT_EXCEEDED", "TOO_MANY_SESSIONS",
        "MAX_SESSIONS", "MAX_SESSIONS_REACHED", "MAX_SESSIONS_EXCEEDED", "SESSION_DISPLACED",
        "SESSION_REPLACED", "CONCURRENT_SESSION", "CONCURRENT_LOGIN", "LOGGED_IN_ELSEWHERE",
        "SIGNED_IN_ELSEWHERE",
      ]
    case .allSessions:
      [
        "ALL_SESSIONS_ENDED", "ALL_SESSIONS_REVOKED", "ALL_SESSIONS_TERMINATED",
        "ALL_TOKENS_REVOKED", "LOGGED_OUT_EVERYWHERE", "SIGNED_OUT_EVERYWHERE", "GLOBAL_LOGOUT",
        "GLOBAL_SIGN_OUT",
      ]
    case .signIn: ErrorMeaning.codes.first { $0.meaning == .userNeeded }?.codes ?? []
    }
  }

  private static let reasons: [String: ServerReason] = Dictionary(
    allCases.flatMap { reason in reason.codes.map { (key($0), reason) } },
    uniquingKeysWith: { first, _ in first })

  /// Whole codes count, in any case, and with `_`, `-`, `.` or nothing between their words.
  private static func key(_ code: String) -> String {
    code.lowercased().filter { !"_-.".contains($0) }
  }

  /// Determines the reason that a code states; a meaning in the app's configuration counts first
  /// if it says something else.
  init?(_ code: String?, meaning configured: ErrorMeaning? = nil) {
    let others: [ErrorMeaning] = [
      .refreshTokenReused, .tokenExpired, .userInactive, .userDeleted, .clientRefused,
    ]
    guard let code, configured.map(others.contains) != true,
      let reason = Self.reasons[Self.key(code)]
    else { return nil }
    self = reason
  }
}
