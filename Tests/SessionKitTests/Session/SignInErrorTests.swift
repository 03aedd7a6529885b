import Foundation
import SessionHTTP
import SessionKit
import SessionMessages
import SessionTestKit
import SessionTestSupport
import Testing

/// The backend's rules for a response decide the error of a login.
@Suite("A session: errors of a login by the backend's rules")
struct SignInErrorTests {
  @Test(
    "LOG-3 LOG-7 a response that a rule calls rejected is a wrong credential, whatever its status")
  func rejected() async throws {
    var wire = HTTPBackend.snakeCaseJSON(try AnswerBench.url())
    wire.failures =
      [
        FailureRule(.rejected, at: [.login], status: 200, codes: ["BAD_PASSWORD"]),
        FailureRule(.rejected, at: [.login], status: 419),
        FailureRule(.rejected, at: [.login], status: 404, codes: ["NO_SUCH_USER"]),
        FailureRule(.unexpected, at: [.login], status: 401, codes: ["MFA_REQUIRED"]),
      ] + wire.failures
    let bench = try AnswerBench(wire)
    let error = { (code: String) in #"{"error":{"code":"\#(code)"}}"# }
    for (status, body, code) in [
      (200, error("BAD_PASSWORD"), "BAD_PASSWORD"), (419, "", nil),
      (404, error("NO_SUCH_USER"), "NO_SUCH_USER"), (401, "", nil),
    ] as [(Int, String, String?)] {
      let found = try await bench.signInError(status, body)
      #expect(found == .invalidCredentials(code: code, status: UInt16(status)))
      #expect(found?.description.contains("\(status)") == true)
      #expect(found?.advice == .correctInput)
    }
    // A path that the server does not have is nothing that the user entered.
    for body in ["", #"{"status":404,"error":"Not Found"}"#] {
      let found = try await bench.signInError(404, body)
      #expect(found?.status == 404 && found?.advice == .contactSupport)
    }
    #expect(
      try await bench.signInError(404, error("USER_NOT_FOUND")) == .notFound(code: "USER_NOT_FOUND")
    )
    #expect(try await bench.signInError(403, "") == .forbidden(code: nil))
  }

  @Test(
    "POL-9 a 403 that a rule calls rejected is a wrong credential",
    arguments: [nil, "M_FORBIDDEN"] as [String?])
  func forbidden(code: String?) async throws {
    var wire = HTTPBackend.snakeCaseJSON(try AnswerBench.url())
    let rule = FailureRule(.rejected, at: [.login], status: 403, codes: code.map { [$0] } ?? [])
    wire.failures = [rule] + wire.failures
    wire.response.errorCode = ["errcode"]
    let bench = try AnswerBench(wire)
    let error = try await bench.signInError(403, #"{"errcode":"M_FORBIDDEN"}"#)
    #expect(error == .invalidCredentials(code: "M_FORBIDDEN", status: 403))
    #expect(error?.advice == .correctInput)
    let other = try await bench.signInError(403, #"{"errcode":"M_USER_DEACTIVATED"}"#)
    #expect(
      other
        == (code == nil
          ? .invalidCredentials(code: "M_USER_DEACTIVATED", status: 403)
          : .forbidden(code: "M_USER_DEACTIVATED")))
  }

  @Test("LOG-3 `invalid_grant` is a wrong credential, and a code that refuses the app is not")
  func oauth() async throws {
    let bench = try AnswerBench(
      AppPreset.oauth(token: try AnswerBench.url()).backend)
    #expect(
      try await bench.signInError(400, #"{"error":"invalid_grant"}"#)
        == .invalidCredentials(code: "invalid_grant", status: 400))
    for (status, code) in [
      (401, "invalid_client"), (400, "invalid_client"), (400, "unauthorized_client"),
      (400, "unsupported_grant_type"), (400, "invalid_scope"),
    ] {
      let error = try await bench.signInError(status, #"{"error":"\#(code)"}"#)
      #expect(error == .appRefused(status: UInt16(status), code: code))
      #expect(error?.message == .appNotSetUp && error?.advice == .contactSupport)
    }
    #expect(
      try await bench.signInError(400, #"{"error":"invalid_request"}"#)
        == .invalidRequest(code: "invalid_request"))
  }

  @Test("REF-6 LOG-3 a refused refresh is not reported as wrong input", arguments: [400, 409, 422])
  func refusedRefresh(status: Int) async throws {
    let bench = try AnswerBench(HTTPBackend.snakeCaseJSON(try AnswerBench.url()))
    bench.answer(
      200, #"{"access_token":"a.b.c","refresh_token":"r","expires_in":900,"user":{"id":1}}"#)
    let session = try await bench.open()
    try await session.login(.password("ana@tik.test", "secreta-9"))
    bench.answer(status, #"{"error":"E_TOKEN"}"#)
    let error = await #expect(throws: SessionError.self) { try await session.refresh() }
    #expect(error == .refreshRefused(UInt16(status), code: "E_TOKEN"))
    #expect(error?.code == .refused && error?.advice == .contactSupport)
    #expect(session.isAuthenticated)
    try await session.close()
  }

  @Test("LOG-3 LOG-8 a login that the backend does not offer is not reported as a connection error")
  func notOffered() async throws {
    var wire = HTTPBackend.snakeCaseJSON(try AnswerBench.url())
    (wire.login, wire.switchContext) = (nil, nil)
    let bench = try AnswerBench(wire)
    let error = try await bench.signInError(200, "")
    #expect(error.isExactly(.notOffered("the backend has no login with a password")))
    #expect(error?.message == .appNotSetUp && error?.advice == .contactSupport)
    #expect(error?.description.contains("onnection") == false)
    #expect(bench.requests.isEmpty)
  }

  @Test(
    "STO-4 LOG-8 an address that cannot be used is not reported as a connection error",
    arguments: ["http://school.test/api", "api/v1", "ftp://school.test", "/var/api"])
  func wrongAddress(address: String) async throws {
    let bench = try Bench()
    var configuration = bench.configuration()
    configuration.http = HTTPBackend.snakeCaseJSON(try #require(URL(string: address)))
    let session = try await Session.open(configuration)
    let error = await failure { () async throws(SessionError) in
      try await session.login(bench.credentials)
    }
    #expect(error.failure == .wrongAddress)
    #expect(error?.message == .appNotSetUp && error?.advice == .contactSupport)
    #expect(error?.description.contains("Try again") == false)
    #expect(session.activity == .failed)
    #expect(session.status.loginError?.message == .appNotSetUp)
    try await session.close()
  }

  @Test("LOG-8 an error never asks the user to wait for 0 seconds")
  func noWait() {
    for error in [
      SessionError.rateLimited(retryAfter: 0), .server(status: 503, code: nil, retryAfter: 0),
      .databaseUnavailable(code: "DB_TIMEOUT", retryAfter: 0),
    ] {
      #expect(!error.description.contains("in 0 s"))
      #expect(error.description.contains("in 1 s"))
    }
  }

  @Test("STA-5 a context's description has names and ids")
  func context() {
    let context = ActiveContext(
      role: .init(id: "role-1", name: "teacher"), school: .init(id: "s-1", name: "North School"),
      unit: .init(id: "u-1", name: ""), permissions: ["a", "b"])
    #expect("\(context)" == "role teacher (role-1) at North School (s-1), u-1, 2 permissions")
    #expect(
      "\(ActiveContext(role: .init(id: "7", name: ""), permissions: ["x"]))"
        == "role 7, 1 permission")
  }
}
