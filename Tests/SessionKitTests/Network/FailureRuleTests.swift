import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import Testing

@Suite("Rules for failures")
struct FailureRuleTests {
  private func kind(
    _ wire: HTTPBackend, _ step: HTTPBackend.Step, _ status: Int, _ body: String = ""
  )
    -> RequestFailure.Kind?
  {
    wire.failure(step, BackendBench.response(status: status, body))?.kind
  }

  @Test("REF-6 LOG-7 an app's rules come before the standard ones, and the first match counts")
  func first() {
    var wire = BackendBench.wire
    wire.failures =
      [
        // A backend that answers an invalid grant with an empty 400, and a blocked IP address with
        // 403.
        FailureRule(.rejected, at: [.refresh], status: 400, body: .empty),
        FailureRule(.server, at: [.refresh], status: 403),
        // A backend that answers everything with 200.
        FailureRule(.rejected, status: 200, codes: ["SESSION_OVER", "AUTH_*"]),
        FailureRule(.unexpected, at: [.call], status: 401, codes: ["MFA_REQUIRED"]),
      ] + wire.failures
    #expect(kind(wire, .refresh, 400) == .rejected)
    #expect(kind(wire, .refresh, 400, " \r\n") == .rejected)
    #expect(kind(wire, .refresh, 400, "{}") == .unexpected)
    #expect(kind(wire, .login, 400) == .unexpected)
    #expect(kind(wire, .refresh, 403) == .server)
    #expect(kind(wire, .switchContext, 403) == .rejected)
    for code in ["SESSION_OVER", "AUTH_", "AUTH_GONE"] {
      #expect(kind(wire, .refresh, 200, #"{"error":"\#(code)"}"#) == .rejected)
    }
    #expect(kind(wire, .refresh, 200, #"{"error":"SESSION"}"#) == nil)
    #expect(kind(wire, .refresh, 200, #"{"access_token":"a"}"#) == nil)
    #expect(kind(wire, .call, 401, #"{"error":"MFA_REQUIRED"}"#) == .unexpected)
    #expect(kind(wire, .call, 401, #"{"error":"OTHER"}"#) == .rejected)
    wire.failures = []
    #expect(kind(wire, .refresh, 401) == .unexpected)
    #expect(kind(wire, .refresh, 200, "<html>") == nil)
  }

  @Test("POL-8 a configured code is kept unchanged, and the rules use its meaning")
  func configuredCodes() {
    var wire = BackendBench.wire
    wire.errorCodes = [
      "renewalReused": .refreshTokenReused, "E-47110815": .userInactive, "has space": .tokenRevoked,
      "TOKEN_EXPIRED": .unspecified,
    ]
    func failure(_ status: Int, _ code: String) -> RequestFailure? {
      wire.failure(.refresh, BackendBench.response(status: status, #"{"error":"\#(code)"}"#))
    }
    #expect(
      failure(400, "renewalReused")
        == RequestFailure(
          kind: .rejected, status: 400, recordedCode: "renewalReused", retryAfter: nil))
    #expect(failure(403, "E-47110815")?.kind == .userInactive)
    #expect(failure(403, "E-47110815")?.serverCode == "E-47110815")
    // A journal cannot hold this code, and its meaning still counts.
    #expect(failure(400, "has space")?.kind == .rejected)
    #expect(failure(400, "has space")?.serverCode == RequestFailure.codeNotKept)
    #expect(failure(400, "renewalreused")?.kind == .unexpected)
    #expect(failure(400, "renewalreused")?.serverCode == RequestFailure.codeNotKept)
    // A code in a rule is kept as well.
    wire.failures.insert(FailureRule(.rejected, status: 418, codes: ["teapot.dead"]), at: 0)
    #expect(failure(418, "teapot.dead")?.serverCode == "teapot.dead")
    #expect(failure(503, "renewalReused")?.kind == .server)
  }

  @Test(
    "POL-8 a number of Microsoft's counts beside any code that the app maps to nothing",
    arguments: [
      ("access_denied", "AADSTS530003", .userNeeded, "AADSTS530003"),
      ("invalid_grant", "AADSTS530003", .userNeeded, "AADSTS530003"),
      ("invalid_grant", "AADSTS50076", .userNeeded, "AADSTS50076"),
      ("interaction_required", "AADSTS50076", .userNeeded, "AADSTS50076"),
      ("consent_required", "AADSTS50076", .userInactive, "consent_required"),
      ("access_denied", "AADSTS50105", .unexpected, "access_denied"),
    ] as [(String, String, RequestFailure.Kind, String)])
  func numbers(_ code: String, _ number: String, _ kind: RequestFailure.Kind, _ kept: String) {
    var wire = BackendBench.wire
    wire.errorCodes = ["AADSTS530003": .userNeeded, "consent_required": .userInactive]
    let body = #"{"error":"\#(code)","error_description":"\#(number): x"}"#
    let failure = wire.failure(.refresh, BackendBench.response(status: 400, body))
    #expect(failure?.kind == kind && failure?.serverCode == kept)
  }

  @Test("REF-6 a page is recognized after a byte order mark and white space")
  func page() {
    for body in ["<", "\u{FEFF}<html>", " \n\t<!doctype html>", "<?xml?>"] {
      #expect(kind(BackendBench.wire, .refresh, 200, body) == .intercepted)
    }
    #expect(kind(BackendBench.wire, .refresh, 200, "\u{FEFF}{}<") == nil)
  }

  @Test("OUT-9 a 401 to a logout that worked can be described, and a refused client is never done")
  func unauthorized() throws {
    func read(_ wire: HTTPBackend, _ body: String) -> RevocationRun.Reply? {
      let response = BackendBench.response(status: 401, body)
      do throws(AnswerFailure) { return try wire.readRevocation(response, needsAccess: true) } catch
      {
        return nil
      }
    }
    var wire = BackendBench.wire
    let session = #"{"status":401,"meta":{"is_authenticated":false}}"#
    #expect(read(wire, session) == .unauthorized(status: 401))
    wire.revoked.unauthorizedConfirms = true
    #expect(read(wire, session) == .done)
    #expect(read(wire, #"{"error":"invalid_client"}"#) == nil)
    #expect(read(wire, #"{"error":"server_error"}"#) == nil)
    #expect(read(wire, #"{"error":"TOKEN_EXPIRED"}"#) == .unauthorized(status: 401))
    wire.revoked.codes = ["invalid_token"]
    #expect(read(wire, #"{"error":"invalid_token"}"#) == .unauthorized(status: 401))
  }

  @Test(
    "POL-4 the error of a refused client names the other form of HTTP Basic, if it differs",
    arguments: [
      (.basic(id: "app", secret: Secret("s+1")), "invalid_client", "pair: .plain"),
      (
        .basic(id: "a b", secret: Secret("s"), pair: .plain), "invalid_client", "pair: .formEncoded"
      ),
      (.basic(id: "app", secret: Secret("s-1")), "invalid_client", nil),
      (.basic(id: "app", secret: Secret("s+1")), "unauthorized_client", nil),
      (.form(id: "app", secret: Secret("s+1")), "invalid_client", nil),
    ] as [(ClientAuthentication, String, String?)])
  func basicPair(_ client: ClientAuthentication, _ code: String, _ hint: String?) {
    var wire = BackendBench.wire
    wire.client = client
    let response = BackendBench.response(status: 401, #"{"error":"\#(code)"}"#)
    let found = [
      #expect(throws: AnswerFailure.self) { try wire.readRefresh(response) },
      #expect(throws: AnswerFailure.self) { try wire.readLogin(response) },
      #expect(throws: AnswerFailure.self) { try wire.readRevocation(response) },
    ]
    for failure in found {
      guard let failure else { continue }
      #expect(failure.problem?.contains("HTTP Basic") == (hint == nil ? nil : true))
      if let hint { #expect(failure.problem?.hasSuffix(hint) == true) }
      let error = SessionError(failure.failure, detail: failure.problem, isSignIn: false)
      #expect("\(error)".contains("pair: ") == (hint != nil))
      #expect(!"\(failure) \(error)".contains("s+1"))
    }
  }

  @Test("OUT-1 the configuration decides which responses revoke, and a page never does")
  func done() {
    func isDone(_ wire: HTTPBackend, _ status: Int, _ body: String = "") -> Bool {
      do throws(AnswerFailure) {
        try wire.readRevocation(BackendBench.response(status: status, body))
        return true
      } catch {
        return false
      }
    }
    var wire = BackendBench.wire
    #expect(isDone(wire, 204) && isDone(wire, 401) && !isDone(wire, 404))
    #expect(!isDone(wire, 200, "<html>") && !isDone(wire, 401, "<html>"))
    wire.client = .basic(id: "app", secret: Secret("s"))
    #expect(!isDone(wire, 401) && isDone(wire, 401, #"{"error":"TOKEN_REVOKED"}"#))
    wire.revoked.statuses = [204...204, 404...404]
    wire.revoked.codes = ["ALREADY_*"]
    #expect(isDone(wire, 204) && isDone(wire, 404) && isDone(wire, 404, "<html>"))
    #expect(!isDone(wire, 200) && !isDone(wire, 401))
    #expect(isDone(wire, 409, #"{"error":{"code":"ALREADY_OUT"}}"#))
    #expect(!isDone(wire, 409, #"{"error":{"code":"OTHER"}}"#))
  }
}
