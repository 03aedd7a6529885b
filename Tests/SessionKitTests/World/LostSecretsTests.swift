import SessionKit
import SessionTestKit
import Testing

@Suite("A simulated world that loses secrets")
struct LostSecretsTests {
  private static let ada = Credential.password(
    LoopbackUser.sample.email, LoopbackUser.sample.password)

  private func open(_ world: SimulatedWorld, _ disk: SimulatedDisk, _ secrets: MemorySecretStore)
    throws -> Session
  {
    let configuration = try world.configuration(
      in: disk.process(), secrets: secrets, policy: .edu(.staging))
    return try world.run { try await Session.open(configuration) }
  }

  @Test(
    "REF-3 RES-1 a caller that waits for a login returns when another session is lost",
    arguments: [false, true])
  func waitsBehindLogin(isReplyLost: Bool) throws {
    let world = SimulatedWorld(Choices(replaying: []))
    defer { world.finish() }
    let (disk, secrets) = (SimulatedDisk(), MemorySecretStore())
    let (one, two) = (try open(world, disk, secrets), try open(world, disk, secrets))
    world.server.script(
      isReplyLost ? .requestLost : .delayed(there: 50, back: 50), for: .login, number: 1)
    world.spawn("one signs in") { try await one.login(Self.ada) }
    world.run(for: .milliseconds(10))
    try world.run { try await two.login(Self.ada) }
    secrets.isAvailable = false
    world.spawn("one switches") {
      _ = try await one.switchContext(to: ContextTarget(role: "r-2", school: "s"))
    }
    world.run(for: .milliseconds(5))
    secrets.isAvailable = true
    try secrets.remove(.token)
    world.run(for: .seconds(60))
    #expect(one.state.kind == .unauthenticated)
    #expect(world.waiting == [])
  }

  @Test("RES-1 a session ends when it finds an older token in the store than in the journal")
  func rolledBack() throws {
    let world = SimulatedWorld(Choices(replaying: []))
    defer { world.finish() }
    let (disk, secrets) = (SimulatedDisk(), MemorySecretStore())
    let (one, two) = (try open(world, disk, secrets), try open(world, disk, secrets))
    try world.run { try await one.login(Self.ada) }
    let old = try #require(try secrets.read(.token))
    try world.run { try await two.refresh() }
    try secrets.write(.token, old)
    // The process finds the other's refresh in the journal, and an older token in the store.
    world.spawn("one asks") { try await one.refresh() }
    world.run(for: .seconds(60))
    #expect(one.state.kind != .authenticated)
    #expect(one.currentToken == nil)
    #expect(world.waiting == [])
  }
}
