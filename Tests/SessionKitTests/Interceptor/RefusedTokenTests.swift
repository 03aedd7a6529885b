import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

/// Calls with a token without a known lifetime, at a backend without refreshes.
@Suite("Protected calls: a refused token without a lifetime")
struct RefusedTokenTests {
  private func signedIn(
    _ bench: CallBench, _ lifetime: TokenLifetime, _ decision: SessionPolicy.RefusedToken = .end,
    _ end: SessionPolicy.End = .keep
  ) async throws -> Session {
    var policy = SessionPolicy.bench
    (policy.ending.onRejection, policy.ending.onRefusedToken) = (end, decision)
    return try await bench.signedIn(policy) { wire in
      wire.refresh = nil
      wire.response.lifetime = [lifetime]
    }
  }

  private let refusing = CallBench.FakeServer { (_, _) throws(TransportError) in
    HTTPResponse(status: 401)
  }

  @Test(
    "POL-7 a refused token ends the session with a reason",
    arguments: [SessionPolicy.End.keep, .clear])
  func ended(end: SessionPolicy.End) async throws {
    let bench = try CallBench()
    let session = try await signedIn(bench, .unstated, .end, end)
    let calls = session.calls(by: TransportCalls(refusing))
    let error = await sessionError { try await calls.send(bench.get()) }
    switch error.failure {
    case .expired(let cause)?: #expect(end == .keep && cause.expiry == .endedByServer)
    case .loggedOut(let cause)?: #expect(end == .clear && cause.expiry == .endedByServer)
    default: Issue.record("\(String(describing: error))")
    }
    #expect(session.state.kind == (end == .keep ? .expired : .unauthenticated))
    #expect(session.lastEnd?.reason == .expired(.endedByServer))
    try await session.close()
  }

  @Test("POL-7 LOG-6 a check at launch with a refused token ends the session, before any call")
  func endedAtLaunch() async throws {
    let bench = try AnswerBench(AnswerBench.camelCaseWire())
    var wire = bench.wire
    (wire.refresh, wire.response.lifetime) = (nil, [.unstated])
    let backend = bench.speaking(wire)
    var policy = SessionPolicy.keeping
    policy.limits.profileCheck = .afterLoginAndLaunch
    policy.limits.requiredItems = [.token]
    let session = try await backend.open(policy)
    backend.answer(#"{"accessToken":"A1","user":{"id":42}}"#)
    backend.answer(200, #"{"id":42,"status":"active"}"#)
    try await session.login(.password("ana@tik.test", "secreta-9"))
    try await session.close()
    backend.answer(401, "")
    let again = try await backend.open(policy)
    await eventually("it ends") { again.state.kind == .expired }
    #expect(again.lastEnd?.reason == .expired(.endedByServer))
    let error = await sessionError { try await again.accessToken() }
    #expect(error?.status == 401 && error?.reason == .expired(.endedByServer))
    try await again.close()
  }

  @Test("POL-7 the 401 is returned and the session stays if the policy says so")
  func delivered() async throws {
    let bench = try CallBench()
    let session = try await signedIn(bench, .unstated, .deliver)
    let calls = session.calls(by: TransportCalls(refusing))
    #expect(try await calls.send(bench.get()).status == 401)
    #expect(session.isAuthenticated && session.lastEnd == nil)
    try await session.close()
  }

  @Test("POL-7 a refused token with a known lifetime does not end the session")
  func known() async throws {
    let bench = try CallBench()
    let session = try await signedIn(bench, .seconds("expires_in"))
    let calls = session.calls(by: TransportCalls(refusing))
    #expect(try await calls.send(bench.get()).status == 401)
    #expect(session.isAuthenticated)
    try await session.close()
  }
}
