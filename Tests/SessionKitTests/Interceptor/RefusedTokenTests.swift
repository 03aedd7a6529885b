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
    case .expired?: #expect(end == .keep && error?.reason == .expired(.endedByServer))
    case .loggedOut?: #expect(end == .clear && error?.reason == .expired(.endedByServer))
    default: Issue.record("\(String(describing: error))")
    }
    #expect(session.state.kind == (end == .keep ? .expired : .unauthenticated))
    #expect(session.lastEnd?.reason == .expired(.endedByServer))
    try await session.close()
  }
}
