import Foundation
import SessionKit

// configuration
extension HTTPBackend {
  /// The to-do service: paths and names of its own, and everything in an envelope.
  static func todo(_ base: URL) -> HTTPBackend {
    var backend = HTTPBackend(baseURL: base)
    backend.tokenForm = .opaque

    backend.endpoints.login = HTTPEndpoint(
      "v2/session", method: "PUT", form: .form, fields: ["device": "terminal"])
    backend.endpoints.refresh = HTTPEndpoint(
      "v2/session/renew", method: "PUT", refresh: .member("renewal"))
    backend.endpoints.revocation = HTTPEndpoint(
      "v2/session", method: "DELETE", form: .none, access: .bearer)

    backend.keys.userName = "login"
    backend.keys.password = "pass"
    backend.keys.userID = "uid"
    backend.keys.errorCode = ["fault.code"]

    backend.answer.envelope = "result"
    backend.answer.accessToken = ["session.token"]
    backend.answer.refreshToken = ["session.renewal"]
    backend.answer.lifetime = [.milliseconds("session.ms")]
    backend.answer.user = [.member("person")]
    return backend
  }
}
// end of configuration
