import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("TST-2: the simulated service")
struct SimulatedServerTests {
  /// A world with a signed-in user.
  private func signedIn(_ draws: [UInt64] = []) throws -> (SimulatedWorld, Session) {
    let world = SimulatedWorld(Choices(replaying: draws))
    var policy = SessionPolicy.edu(.staging)
    policy.refresh.timeout = .seconds(5)
    let configuration = try world.configuration(
      in: SimulatedDisk().process(), secrets: MemorySecretStore(), policy: policy)
    let session = try world.run {
      let session = try await Session.open(configuration)
      try await session.login(.sample)
      return session
    }
    return (world, session)
  }

  @Test("TST-2 REF-7: the response to the second refresh is lost, and the third brings the token")
  func secondAnswer() throws {
    let (world, session) = try signedIn()
    defer { world.finish() }
    world.server.script(.answerLost, for: .refresh, number: 2)
    try world.run { try await session.refresh() }
    let start = world.clock.now().uptime
    let token = try world.run { try await session.refresh() }
    #expect(token.generation.number == 3)
    #expect(world.server.count(of: .refresh) == 3)
    #expect(
      world.clock.now().uptime == start + 5_000, "it waits for the answer, then tries at once")
  }

  @Test("TST-2: a lost request never arrives, and a repeated one is acted on twice")
  func lost() throws {
    let (world, session) = try signedIn()
    defer { world.finish() }
    world.server.script(.requestLost, for: .refresh)
    try world.run { try await session.refresh() }
    #expect(world.server.count(of: .refresh) == 1)
    world.server.script(.repeated, for: .switchContext)
    let context = LoopbackContext.coordinator
    try world.run {
      try await session.switchContext(
        to: ContextTarget(
          role: Identifier(context.roleID), school: Identifier(context.schoolID), unit: nil))
    }
    #expect(world.server.count(of: .switchContext) == 2)
  }

  @Test(
    "TST-2: a scripted status is returned without acting, and later requests follow the network's draws"
  )
  func status() throws {
    let (world, session) = try signedIn()
    defer { world.finish() }
    world.server.script(.status(503), for: .refresh)
    #expect(throws: SessionError.server(status: 503, code: nil)) {
      try world.run { try await session.refresh() }
    }
    #expect(world.server.count(of: .refresh) == 0)
    #expect(try world.run { try await session.refresh() }.generation.number == 2)
  }

  @Test("TST-2: the response to a later request overtakes a delayed one")
  func overtaken() throws {
    let (world, session) = try signedIn()
    defer { world.finish() }
    let token = try #require(session.currentToken)
    let request = HTTPRequest.materials(token)
    world.server.script(.delayed(there: 5, back: 500), for: .materials, number: 1)
    world.server.script(.delayed(back: 20), for: .materials, number: 2)
    for name in ["first", "second"] {
      world.spawn(name) {
        _ = try await world.server.send(request)
        world.choices.step(name)
      }
    }
    let start = world.clock.now().uptime
    world.run(for: .milliseconds(600))
    #expect(
      world.choices.steps.map(\.text).filter { ["first", "second"].contains($0) } == [
        "second", "first",
      ])
    #expect(world.failures.isEmpty)
    #expect(world.clock.now().uptime == start + 600)
  }

  @Test(
    "TST-2: the service reports counts, revocations, secrets and the most simultaneous requests")
  func service() throws {
    let (world, session) = try signedIn()
    defer { world.finish() }
    #expect(world.server.count(of: .login) == 1)
    #expect(world.server.mostTokenRequestsAtOnce == 0)
    #expect(world.server.secrets.contains(LoopbackUser.sample.password))
    world.server.weather.longestWay = 10
    #expect(world.server.weather != .clear)
    for _ in 0..<3 { world.spawn { try await session.refresh() } }
    world.run(for: .milliseconds(100))
    #expect(world.server.count(of: .refresh) == 1, "three callers share one request")
    #expect(world.server.mostTokenRequestsAtOnce == 1)
    world.server.revokeAllTokens()
    #expect(throws: SessionError.self) { try world.run { try await session.refresh() } }
    #expect(!session.isAuthenticated)
  }
}
