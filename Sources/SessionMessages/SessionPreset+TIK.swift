public import Foundation
import SessionCore
public import SessionKit

extension SessionPreset {
  /// The ticketing app: a JWT whose `exp` says how long it is good, a refresh token that rotates, tokens of
  /// other services, no logout endpoint, and three Spanish texts of its own (TIK).
  public static func tik(_ baseURL: URL) -> SessionPreset {
    var wire = HTTPBackend(baseURL: baseURL)
    wire.endpoints.login = "api/auth/login"
    wire.endpoints.social = "api/auth/social-login"
    wire.endpoints.refresh = HTTPEndpoint("api/auth/refresh", refresh: .member("refresh_token"))
    wire.endpoints.profile = HTTPEndpoint(
      "api/auth/me", method: "GET", form: .none, access: .bearer)
    wire.keys.errorCode = ["error.code", "code"]
    wire.answer.accessToken = ["token", "access_token"]
    wire.answer.lifetime = [.claim("exp")]
    wire.answer.user = [.member("user"), .claim("sub")]
    return SessionPreset(name: "TIK", wire: wire, policy: .tik, words: .tik)
  }
}
