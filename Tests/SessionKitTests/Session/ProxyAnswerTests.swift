import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

/// A proxy that answers at the address of the refresh.
@Suite("A session: a proxy's response to a refresh")
struct ProxyAnswerTests {
  @Test(
    "REF-6 a proxy's text response or 404 never ends the session, however often it comes",
    arguments: [
      (403, "text/plain", "Forbidden by policy"), (404, "text/plain", "404 page not found"),
      (404, "application/json", #"{"message":"no Route matched with those values"}"#),
      (405, "text/plain", ""),
    ])
  func endsNothing(status: Int, type: String, body: String) async throws {
    let bench = try Bench()
    var policy = SessionPolicy.keeping
    (policy.refresh.attempts, policy.ending.onExhaustion) = (2, .end(.keep))
    let session = try await bench.signedIn(policy)
    let fault = LoopbackFault.body(Array(body.utf8), contentType: type, status: status)
    bench.server.failNext(.refresh, with: fault, times: 4)
    for _ in 0..<4 {
      let error = await failure { () async throws(SessionError) in try await session.refresh() }
      #expect(error == .gatewayFailed(status: UInt16(status)))
      #expect(session.isAuthenticated)
    }
    // The backend's own response counts.
    bench.server.failNext(.refresh, with: .status(403, code: "TOKEN_REVOKED"))
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(session.state.kind == .expired)
    try await session.close()
  }

  @Test("REF-6 an app's own rule decides about a text response with 403")
  func rule() async throws {
    let bench = try Bench()
    var configuration = bench.configuration(.keeping)
    configuration.http.failures.insert(
      FailureRule(.rejected, at: [.refresh], status: 403), at: 0)
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    bench.server.failNext(
      .refresh, with: .body(Array("Token revoked".utf8), contentType: "text/plain", status: 403))
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(session.state.kind == .expired)
    try await session.close()
  }
}
