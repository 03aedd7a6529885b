import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

/// A backend that differs from every preset; `DescribeYourBackend` refers to it.
private func clinic(_ base: URL, secret: Secret) -> HTTPBackend {
  var backend = HTTPBackend(baseURL: base)

  // Where: PUT of a form to sign in; the refresh token as bearer; JSON for another role.
  backend.login = .put(
    "v2/session", body: .form, fields: ["device": "phone"])
  backend.refresh = .put(
    "v2/session/renew", body: .none, refreshToken: .bearer)
  backend.switchContext = .post("v2/session/role", accessToken: .bearer)
  backend.revocation = .delete(
    "v2/session", accessToken: .bearer)
  backend.client = .basic(id: "clinic-app", secret: secret)
  backend.headers = [HTTPHeader("X-Api", "2")]

  // What is asked with, and what a user, a role and an error are made of.
  backend.requestFields.userName = "login"
  backend.response.userID = "uid"
  backend.response.email = "mail.main"
  backend.response.errorCode = "fault.code"
  backend.response.errorCodeHeader = "X-Fault"
  backend.contextKeys.role = "role.id"
  backend.contextKeys.roleName = "role.name"
  backend.contextKeys.school = "site.id"
  backend.contextKeys.schoolName = "site.name"
  backend.contextKeys.permissions = "role.may"

  // Where answers say it: all in an envelope, the end of a token in ISO 8601, or its life in ms.
  backend.tokenForm = .opaque
  backend.response.envelope = "result"
  backend.response.accessToken = "session.token"
  backend.response.refreshToken = "session.renewal"
  backend.response.lifetime = [.instant("session.until"), .milliseconds("session.ms")]
  backend.response.user = [.member("person")]
  backend.response.context = "acting"
  backend.response.switchedContext = "acting"

  // What it means when it is no success; the first that matches counts.
  backend.failures =
    [
      FailureRule(.rejected, at: [.login], status: 200, codes: ["BAD_PASSWORD"]),
      FailureRule(.rejected, at: [.refresh, .call], status: 419),
      FailureRule(.server, at: [.refresh], status: 403, codes: ["MAINTENANCE"]),
    ] + FailureRule.standard
  backend.revoked.codes = ["SESSION_UNKNOWN"]

  // What depends on the request, such as a signature; it may wait.
  backend.prepare = { request, step in
    if step == .login { request.headers.append(HTTPHeader("X-Locale", "es-AR")) }
  }
  return backend
}

@Suite("An unusual backend")
struct OwnBackendExample {
  private let signIn = Credential.password("ana@clinic.test", "s3creta-9")

  private func bench() throws -> AnswerBench {
    try AnswerBench(clinic(try AnswerBench.url(), secret: Secret("app-secret")))
  }

  @Test("POL-4 an unusual backend works from login to logout")
  func whole() async throws {
    let bench = try bench()
    let session = try await bench.open()
    let date = HTTPHeader("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
    bench.answer(
      #"{"result":{"session":{"token":"A1","renewal":"R1","until":"1994-11-06T09:49:37Z"},"#
        + #""person":{"uid":7,"mail":{"main":"ana@clinic.test"}},"#
        + #""acting":{"role":{"id":3,"name":"nurse","may":["read"]},"site":{"id":"s"}}}}"#,
      headers: [date])
    try await session.login(signIn)
    let login = try #require(bench.requests.last)
    #expect(login.method == "PUT" && login.url.path == "/v2/session")
    #expect(bench.lastBody == "device=phone&login=ana%40clinic.test&password=s3creta-9")
    #expect(login.header("Authorization")?.hasPrefix("Basic ") == true)
    #expect(login.header("X-Locale") == "es-AR")
    #expect(session.currentUser?.id == "7" && session.currentUser?.email == "ana@clinic.test")
    #expect(session.activeContext?.role == .init(id: "3", name: "nurse"))
    #expect(session.activeContext?.permits("read") == true)
    #expect(session.activeContext?.school?.id == "s")

    bench.answer(#"{"result":{"session":{"token":"A2","renewal":"R2","ms":90000}}}"#)
    try await session.refresh()
    let refresh = try #require(bench.requests.last)
    #expect(refresh.method == "PUT" && refresh.body == nil)
    // Basic is left out, as the refresh token takes its place.
    #expect(refresh.header("Authorization") == "Bearer R1")
    #expect(refresh.header("X-Api") == "2")
    #expect(refresh.header("X-Locale") == nil)

    bench.answer(
      #"{"result":{"session":{"token":"A3","ms":90000},"acting":{"role":{"id":4}}}}"#)
    try await session.switchContext(to: ContextTarget(role: "4", school: "s"))
    #expect(bench.lastBody == #"{"role":{"id":"4"},"site":{"id":"s"}}"#)
    #expect(session.activeContext?.role.id == "4")

    bench.answer(404, #"{"fault":{"code":"SESSION_UNKNOWN"}}"#)
    #expect(try await session.logout() == .success)
    #expect(bench.requests.last?.method == "DELETE")
    #expect(bench.requests.last?.header("Authorization") == "Bearer A3")
    try await session.close()
  }

  @Test("LOG-3 REF-6 the backend's rules decide the meaning of its failures")
  func failures() async throws {
    let bench = try bench()
    let wire = bench.wire
    #expect(
      try await bench.signInError(200, #"{"fault":{"code":"BAD_PASSWORD"}}"#)
        == .invalidCredentials(code: "BAD_PASSWORD", status: 200))
    let kind = { (step: HTTPBackend.Step, status: Int, code: String) in
      wire.failure(
        step, HTTPResponse(status: status, headers: [HTTPHeader("X-Fault", code)]))?.kind
    }
    #expect(kind(.refresh, 419, "") == .rejected && kind(.call, 419, "") == .rejected)
    #expect(kind(.refresh, 403, "MAINTENANCE") == .server)
    #expect(kind(.refresh, 403, "OTHER") == .rejected)
    #expect(kind(.login, 403, "USER_INACTIVE") == .userInactive)
  }
}
