import Foundation
import SessionKit

/// What `Specs/Presets.md` shows for a backend that has no preset.
enum SimpleJWTExample {
  static func preset(_ baseURL: URL) -> SessionPreset {
    // page begins
    var wire = HTTPBackend(baseURL: baseURL)
    wire.endpoints.login = "api/token/"
    wire.endpoints.refresh = HTTPEndpoint("api/token/refresh/", refresh: .member("refresh"))
    wire.endpoints.revocation = HTTPEndpoint("api/token/blacklist/", refresh: .member("refresh"))
    wire.keys.userName = "username"
    wire.keys.errorCode = ["code"]
    wire.answer.accessToken = ["access"]
    wire.answer.refreshToken = ["refresh"]
    wire.answer.lifetime = [.claim("exp")]
    wire.answer.user = [.claim("user_id")]
    let preset = SessionPreset(name: "SimpleJWT", wire: wire, policy: .standard)
    // page ends
    return preset
  }
}
