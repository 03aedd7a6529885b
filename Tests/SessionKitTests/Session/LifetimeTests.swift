@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@testable import SessionKit

@Suite("A session with an absolute lifetime")
struct LifetimeTests {
  private static let limit: Int64 = 1_800_000

  private static var policy: SessionPolicy {
    var policy = SessionPolicy.keeping
    policy.ending.absoluteLifetime = .milliseconds(limit)
    return policy
  }

  @Test("POL-10 at the end of its lifetime the session expires and returns no token")
  func expires() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn(Self.policy)
    try await bench.expectEnd(of: session, after: Self.limit)
    try await session.close()
  }

  @Test(
    "POL-10 a reopened session has only the rest of its lifetime, also after a reboot",
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
    #expect(late.expiryReason == .lifetimeEnded)
    try await late.close()
  }
}

extension Bench {
  /// Expects that a session lasts for this number of milliseconds and then ends.
  func expectEnd(of session: Session, after limit: Int64) async throws {
    await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(limit - 1))
    #expect(session.currentToken != nil)
    clock.advance(by: .milliseconds(1))
    #expect(session.currentToken == nil)
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error?.isExpired == true)
    #expect(session.expiryReason == .lifetimeEnded)
    #expect(server.count(of: .refresh) == 0, "and nothing asked for a token")
  }
}

extension Session {
  var expiryReason: ExpiryReason? {
    guard case .expired(let expired) = state else { return nil }
    return expired.reason
  }
}
