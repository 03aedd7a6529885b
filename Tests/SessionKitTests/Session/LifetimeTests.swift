@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@testable import SessionKit

@Suite("A session that has lasted its time")
struct LifetimeTests {
  private static let limit: Int64 = 1_800_000

  private static var policy: SessionPolicy {
    var policy = SessionPolicy.keeping
    policy.ending.absoluteLifetime = .milliseconds(limit)
    return policy
  }

  private func reason(_ session: Session) -> ExpiryReason? {
    guard case .expired(let expired) = session.state else { return nil }
    return expired.reason
  }

  @Test("POL-10 at the end of the lifetime no token is given out any more, and the session expires")
  func expires() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn(Self.policy)
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .milliseconds(Self.limit - 1))
    #expect(session.currentToken != nil)
    bench.clock.advance(by: .milliseconds(1))
    #expect(session.currentToken == nil)
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error?.isExpired == true)
    #expect(reason(session) == .lifetimeEnded)
    #expect(bench.server.count(of: .refresh) == 0, "and nothing asked for a token")
    try await session.close()
  }

  @Test(
    "POL-10 a session that is opened again has what is left of its lifetime, also after a reboot",
    arguments: [false, true])
  func reopened(isRestarted: Bool) async throws {
    let bench = try Bench()
    try await bench.signedIn(Self.policy).close()
    bench.clock.advance(by: .milliseconds(Self.limit - 60_000))
    if isRestarted { bench.clock.restart() }
    let session = try await bench.open(Self.policy)
    #expect(session.isAuthenticated)
    try await session.close()
    bench.clock.advance(by: .seconds(60))
    let late = try await bench.open(Self.policy)
    #expect(reason(late) == .lifetimeEnded)
    try await late.close()
  }
}
