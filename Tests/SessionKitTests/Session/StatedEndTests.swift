@_spi(Internals) import SessionCore
import SessionHTTP
import SessionTestKit
import Testing

@testable import SessionKit

/// The backend gives the end of the session in the `exp` claim of the access token, over sockets.
@Suite("A session whose end the backend states")
struct StatedEndTests {
  private static let limit: Int64 = 1_800_000

  private func bench() throws -> Bench {
    try Bench { $0.accessTokenLifetime = .milliseconds(Self.limit) }
  }

  private func open(_ bench: Bench, from sources: [TokenLifetime] = [.claim("exp")])
    async throws -> Session
  {
    var policy = SessionPolicy.keeping
    policy.refresh.beforeExpiry = nil
    var configuration = bench.configuration(policy)
    var backend = HTTPBackend.snakeCaseJSON(bench.server.baseURL)
    // The token itself lives longer than the session.
    backend.response.lifetime = [.assumed(.seconds(36_000))]
    backend.response.sessionLifetime = sources
    configuration.backend = backend
    return try await Session.open(configuration)
  }

  @Test(
    "POL-10 the stated end survives a restart, a reboot and a refresh that does not state it",
    arguments: [false, true])
  func reopened(isRestarted: Bool) async throws {
    let bench = try bench()
    let first = try await open(bench)
    try await first.login(bench.credentials)
    bench.clock.advance(by: .milliseconds(60_000))
    try await first.close()
    let second = try await open(bench, from: [.claim("nobody says it")])
    try await second.refresh()
    #expect(second.currentToken?.generation == Generation(2))
    try await second.close()
    bench.clock.advance(by: .milliseconds(Self.limit - 120_000))
    if isRestarted { bench.clock.restart() }
    let third = try await open(bench)
    #expect(third.isAuthenticated)
    try await third.close()
    bench.clock.advance(by: .seconds(60))
    let late = try await open(bench)
    #expect(late.expiryReason == .lifetimeEnded)
    try await late.close()
  }

  @Test(
    "POL-10 an app's own backend can state the end, and an end in the past expires the session")
  func own() async throws {
    let bench = try Bench()
    let server = ServerInProcess()
    var configuration = bench.configuration(.keeping)
    configuration.backend = server
    let session = try await Session.open(configuration)
    await server.next(
      .brings(
        TokenResponse(
          access: Secret("A"), refresh: Secret("R"), lifetime: .seconds(3_600),
          user: UserProfile(id: "u-1"), sessionLifetime: .seconds(60))),
      .brings(
        TokenResponse(
          access: Secret("B"), lifetime: .seconds(3_600), sessionLifetime: .seconds(-5))))
    try await session.login(.password("ana@school.test", "correct-horse-9"))
    #expect(session.currentToken != nil)
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error?.isExpired == true)
    await eventually("it ends") { session.expiryReason == .lifetimeEnded }
    #expect(session.currentToken == nil)
    try await session.close()
  }
}

extension Session {
  var expiryReason: ExpiryReason? {
    guard case .expired(let expired) = state else { return nil }
    return expired.reason
  }
}
