import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@Suite("A session: refresh and context")
struct RefreshTests {
  @Test("REF-1 the token is refreshed by itself five minutes before it expires")
  func proactive() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .milliseconds(3_600_000 - 300_000 - 1))
    #expect(bench.server.count(of: .refresh) == 0)
    bench.clock.advance(by: .milliseconds(1))
    await eventually("the refresh") { session.currentToken?.generation == Generation(2) }
    #expect(try bench.eventNames() == ["login", "refreshSucceeded"])
    #expect(bench.server.violations.isEmpty, "REF-4 no Authorization on a refresh")
    try await session.close()
  }

  @Test("REF-3 a hundred callers share one request, and each gets the new token")
  func singleFlight() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let gate = bench.server.hold(.refresh)
    let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
      for _ in 0..<100 { group.addTask { try await session.refresh() } }
      #expect(await bench.server.received(.refresh))
      #expect(session.activity == .refreshing)
      // All callers must have asked before the response arrives.
      await eventually("a hundred waiters") { session.waiterCount == 100 }
      gate.open()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(bench.server.count(of: .refresh) == 1)
    #expect(Set(tokens.map(\.generation)) == [Generation(2)])
    try await session.close()
  }

  @Test("REF-5 the new refresh token of a rotating server replaces the old one")
  func rotation() async throws {
    let bench = try Bench { $0.rotatesRefreshTokens = true }
    let session = try await bench.signedIn()
    for _ in 0..<3 { try await session.refresh() }
    let rotations = try bench.records().compactMap { record -> Bool? in
      guard case .refreshSucceeded(let refresh) = record.event else { return nil }
      return refresh.isRotated
    }
    #expect(rotations == [true, true, true])
    try await session.close()
  }

  @Test("REF-6 a transient failure is journaled and retried, and logs out no user")
  func recovers() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    bench.server.failNext(.refresh, with: .status(503))
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    guard case .server(status: 503, _, _) = error.failure else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(session.isAuthenticated)
    #expect(session.currentToken?.generation == Generation(1))
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(1))
    await eventually("the retry") { session.currentToken?.generation == Generation(2) }
    #expect(try bench.eventNames() == ["login", "refreshFailed", "refreshSucceeded"])
    try await session.close()
  }

  @Test("REF-6 an unreadable response or a missing server logs out no user")
  func staysOnNonsense() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    for (fault, name) in LoginTests.unreadable.prefix(2) {
      bench.server.failNext(.refresh, with: fault)
      let error = await failure { () async throws(SessionError) in try await session.refresh() }
      guard case .unreadableAnswer = error.failure else {
        Issue.record("\(name): \(String(describing: error))")
        continue
      }
      #expect(session.isAuthenticated)
    }
    bench.server.stop()
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    guard case .noConnection = error.failure else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(session.isAuthenticated)
    #expect(session.currentToken?.generation == Generation(1))
    try await session.close()
  }

  @Test("REF-6 a refused refresh ends the session in one batch, as the policy says")
  func refused() async throws {
    for policy in [SessionPolicy.bench, .keeping] {
      let bench = try Bench()
      let session = try await bench.signedIn(policy)
      bench.server.revokeAllTokens()
      let error = await failure { () async throws(SessionError) in try await session.refresh() }
      let clears = policy.ending.onRejection == .clear
      #expect(clears ? error?.isLoggedOut == true : error?.isExpired == true)
      #expect(session.currentToken == nil)
      #expect(session.state.kind == (clears ? .unauthenticated : .expired))
      #expect(try bench.files() == (clears ? [] : ["context", "user"]))
      #expect(
        try bench.eventNames()
          == ["login", "refreshFailed", "sessionExpired"] + (clears ? ["logout"] : []))
      try await session.close()
    }
  }

  @Test("REF-7 a refresh whose response was lost is repeated at once, within the server's grace")
  func lostReply() async throws {
    let bench = try Bench {
      $0.rotatesRefreshTokens = true
      $0.rotationGrace = .seconds(60)
    }
    let session = try await bench.signedIn()
    bench.server.failNext(.refresh, with: .dropConnection(.afterActing))
    let token = try await session.refresh()
    #expect(token.generation == Generation(2))
    #expect(bench.server.count(of: .refresh) == 2)
    let failures = try bench.records().compactMap { record -> RequestFailure.Kind? in
      guard case .refreshFailed(let failed) = record.event else { return nil }
      return failed.failure.kind
    }
    #expect(failures == [.noReply])
    try await session.close()
  }

  @Test("CTX-1 a switch replaces token and context together, and a failed switch changes nothing")
  func switching() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let context = try await session.switchContext(to: bench.coordinator)
    #expect(context?.role.id == Identifier(LoopbackContext.coordinator.roleID))
    #expect(session.currentToken?.generation == Generation(2))

    let before = session.state
    let unknown = ContextTarget(role: "no-such-role", school: "no-such-school", unit: nil)
    let error = await failure { () async throws(SessionError) in
      try await session.switchContext(to: unknown)
    }
    guard case .forbidden = error.failure else {
      Issue.record("\(String(describing: error))")
      return
    }
    // A response with a readable token is different: the token is kept (REF-7).
    for (fault, _) in LoginTests.unreadable.prefix(2) {
      bench.server.failNext(.switchContext, with: fault)
      _ = await failure { () async throws(SessionError) in
        try await session.switchContext(to: bench.coordinator)
      }
    }
    #expect(session.state == before)
    #expect(try bench.eventNames() == ["login", "contextSwitched"])
    try await session.close()
  }

  @Test("CTX-2 a switch and a refresh are never sent at the same time")
  func serialised() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let gate = bench.server.hold(.refresh)
    async let refreshed = session.refresh()
    #expect(await bench.server.received(.refresh))
    async let switched = session.switchContext(to: bench.coordinator)
    #expect(bench.server.count(of: .switchContext) == 0)
    gate.open()
    _ = try await refreshed
    _ = try await switched
    #expect(try bench.eventNames() == ["login", "refreshSucceeded", "contextSwitched"])
    #expect(session.currentToken?.generation == Generation(3))
    try await session.close()
  }

  @Test("cancelling one caller spares the others")
  func cancellation() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let gate = bench.server.hold(.refresh)
    let first = Task { try await session.refresh() }
    #expect(await bench.server.received(.refresh))
    let second = Task { try await session.refresh() }
    await eventually("two waiters") { session.waiterCount == 2 }
    first.cancel()
    await #expect(throws: SessionError.cancelled) { try await first.value }
    gate.open()
    #expect(try await second.value.generation == Generation(2))
    #expect(bench.server.count(of: .refresh) == 1)
    try await session.close()
  }
}
