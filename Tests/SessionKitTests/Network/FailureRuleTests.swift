import Foundation
import SessionKit
import Testing

@Suite("Rules for failures")
struct FailureRuleTests {
  private func kind(_ wire: Wire, _ step: Wire.Step, _ status: Int, _ body: String = "")
    -> RequestFailure.Kind?
  {
    wire.failure(step, WireBench.response(status: status, body))?.kind
  }

  @Test("REF-6 LOG-7 an app's rules come before the standard ones, and the first counts")
  func first() {
    var wire = WireBench.wire
    wire.failures =
      [
        // A backend that answers 400 with nothing where the grant is dead, and 403 for a blocked IP.
        FailureRule(.rejected, at: [.refresh], status: 400, body: .empty),
        FailureRule(.server, at: [.refresh], status: 403),
        // One that says 200 of everything.
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

  @Test("REF-6 a byte order mark and white space hide no page")
  func page() {
    for body in ["<", "\u{FEFF}<html>", " \n\t<!doctype html>", "<?xml?>"] {
      #expect(kind(WireBench.wire, .refresh, 200, body) == .intercepted)
    }
    #expect(kind(WireBench.wire, .refresh, 200, "\u{FEFF}{}<") == nil)
  }

  @Test("REF-6 a page has no say in when to come back")
  func pagesWait() {
    for (body, wait) in [("<html>", nil), ("", 7_000)] as [(String, Int64?)] {
      let response = WireBench.response(
        status: 503, headers: [HTTPHeader("Retry-After", "7")], body)
      #expect(WireBench.wire.failure(.refresh, response)?.retryAfter == wait)
    }
  }

  @Test("OUT-1 what means done is configuration, and a page never does")
  func done() {
    func isDone(_ wire: Wire, _ status: Int, _ body: String = "") -> Bool {
      do throws(AnswerFailure) {
        try wire.readRevocation(WireBench.response(status: status, body))
        return true
      } catch {
        return false
      }
    }
    var wire = WireBench.wire
    #expect(isDone(wire, 204) && isDone(wire, 401) && !isDone(wire, 404))
    #expect(!isDone(wire, 200, "<html>") && !isDone(wire, 401, "<html>"))
    wire.revoked.statuses = [204...204, 404...404]
    wire.revoked.codes = ["ALREADY_*"]
    #expect(isDone(wire, 204) && isDone(wire, 404))
    #expect(!isDone(wire, 200) && !isDone(wire, 401))
    #expect(isDone(wire, 409, #"{"error":{"code":"ALREADY_OUT"}}"#))
    #expect(!isDone(wire, 409, #"{"error":{"code":"OTHER"}}"#))
  }
}
