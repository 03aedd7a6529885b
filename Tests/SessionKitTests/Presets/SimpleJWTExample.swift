import Foundation
import SessionHTTP
import SessionKit

/// The example in `Specs/Presets.md` of a backend without a preset.
enum SimpleJWTExample {
  static func backend(_ baseURL: URL) -> HTTPBackend {
    var backend = HTTPBackend(baseURL: baseURL)
    backend.login = "api/token/"
    backend.refresh = .post("api/token/refresh/", refreshToken: .member("refresh"))
    backend.revocation = .post("api/token/blacklist/", refreshToken: .member("refresh"))
    backend.requestFields.userName = "username"
    backend.response.errorCode = "code"
    backend.response.accessToken = "access"
    backend.response.refreshToken = "refresh"
    backend.response.lifetime = [.claim("exp")]
    backend.response.user = [.claim("user_id")]
    return backend
  }
}
