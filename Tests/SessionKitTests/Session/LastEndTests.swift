@_spi(Internals) import SessionCore
import SessionKit
import SessionMessages
import SessionTestKit
import Testing

/// A login screen can show the reason of the last end.
@Suite("A session: the reason of its last end")
struct LastEndTests {
  private func rejected(_ session: Session, _ bench: Bench) async {
    bench.server.failNext(.refresh, with: .status(401))
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
  }

  @Test(
    "STA-8 POL-6 a refused refresh is the reason, also after a restart and a new login",
    .timeLimit(.minutes(4)), arguments: [SessionPolicy.bench, .keeping])
  @MainActor
  func refused(policy: SessionPolicy) async throws {
    let bench = try Bench()
    let session = try await bench.signedIn(policy)
    #expect(session.lastEnd == nil && session.status.lastEnd == nil)
    let observed = ObservedSession(session)
    await rejected(session, bench)
    let end = try #require(session.lastEnd)
    #expect(end.reason == .expired(.refreshRejected))
    #expect(session.status.lastEnd == end)
    #expect(end.text(in: .english) == "The service has ended your session. Log in to continue.")
    while observed.lastEnd != end { await Task.yield() }
    try await session.close()

    let again = try await bench.open(policy)
    #expect(again.lastEnd == end)
    #expect(again.state.kind == (policy.ending.onRejection == .keep ? .expired : .unauthenticated))
    try await again.login(bench.credentials)
    #expect(again.lastEnd == end)
    try await again.logout()
    #expect(again.lastEnd?.reason == .loggedOut(.user))
    try await again.close()
  }
}
