import Foundation
import SessionHTTP
import SessionKit

/// What `Specs/Presets.md` shows for a backend that has no preset.
enum SimpleJWTExample {
  static func backend(_ baseURL: URL) -> HTTPBackend {
    // page begins
    var backend = HTTPBackend(baseURL: baseURL)
    backend.endpoints.login = "api/token/"
    backend.endpoints.refresh = HTTPEndpoint("api/token/refresh/", refresh: .member("refresh"))
    backend.endpoints.revocation = HTTPEndpoint("api/token/blacklist/", refresh: .member("refresh"))
    backend.keys.userName = "username"
    backend.keys.errorCode = ["code"]
    backend.answer.accessToken = ["access"]
    backend.answer.refreshToken = ["refresh"]
    backend.answer.lifetime = [.claim("exp")]
    backend.answer.user = [.claim("user_id")]
    // page ends
    return backend
  }
}
