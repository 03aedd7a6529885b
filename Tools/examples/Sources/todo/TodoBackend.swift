import Foundation
import SessionHTTP
import SessionKit

// configuration
extension HTTPBackend {
  /// The to-do service: paths and names of its own, and everything in an envelope.
  static func todo(_ base: URL) -> HTTPBackend {
    var backend = HTTPBackend(baseURL: base)
    backend.tokenForm = .opaque

    backend.login = .put("v2/session", body: .form, fields: ["device": "terminal"])
    backend.refresh = .put("v2/session/renew", refreshToken: .member("renewal"))
    backend.revocation = .delete("v2/session", accessToken: .bearer)

    backend.requestFields.userName = "login"
    backend.requestFields.password = "pass"

    backend.response.envelope = "result"
    backend.response.accessToken = "session.token"
    backend.response.refreshToken = "session.renewal"
    backend.response.lifetime = [.milliseconds("session.ms")]
    backend.response.user = [.member("person")]
    backend.response.userID = "uid"
    backend.response.errorCode = "fault.code"
    return backend
  }
}
// end of configuration
