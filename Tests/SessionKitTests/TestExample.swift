import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("The article's example of a test")
struct TestExample {
  @Test("the example runs as it is shown")
  func example() async throws {
    let bench = try Bench()
    defer { withExtendedLifetime(bench) {} }
    let directory = bench.folder

    // PAGE begins
    let server = try LoopbackServer.start()
    let clock = ManualClock()
    let session = try await Session.open(
      SessionConfiguration(
        directory: directory, backend: HTTPBackend.snakeCaseJSON(server.baseURL),
        secrets: MemorySecretStore(), policy: .staging, clock: clock))
    try await session.login(.password(LoopbackUser.sample.email, LoopbackUser.sample.password))

    server.failNext(.refresh, with: .status(503))
    clock.advance(by: .seconds(3_600))  // an hour later the token has expired
    #expect(await server.answered(.refresh))
    #expect(session.isTokenExpired && session.isAuthenticated)  // no user was logged out

    await clock.waitForSleepers(1)  // the next attempt is scheduled
    clock.advance(by: .seconds(10))
    #expect(await server.answered(.refresh, count: 2))
    try await session.close()
    // PAGE ends
  }
}
