import Foundation
import SessionKit

/// What `Specs/Presets.md` shows for a backend that has no preset.
enum SimpleJWTExample {
  static func preset(_ baseURL: URL) -> SessionPreset {
    // page begins
    var wire = Wire(baseURL: baseURL)
    wire.endpoints.login = "api/token/"
    wire.endpoints.refresh = WireEndpoint("api/token/refresh/", refresh: .member("refresh"))
    wire.endpoints.revocation = WireEndpoint("api/token/blacklist/", refresh: .member("refresh"))
    wire.keys.userName = "username"
    wire.keys.errorCode = ["code"]
    wire.answer.accessToken = ["access"]
    wire.answer.refreshToken = ["refresh"]
    wire.answer.lifetime = [.claim("exp")]
    wire.answer.user = [.claim("user_id")]
    let preset = SessionPreset(name: "SimpleJWT", wire: wire, policy: .production)
    // page ends
    return preset
  }
}
