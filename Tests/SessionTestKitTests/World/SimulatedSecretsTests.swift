import SessionKit
import SessionTestKit
import Testing

@Suite("TST-2: a simulated store of secrets")
struct SimulatedSecretsTests {
  private let error = SecretStoreError.noSpace(item: .token, place: "here")

  @Test("TST-2: a fault before a call prevents it, and a fault after it only changes the result")
  func faults() throws {
    let secrets = SimulatedSecrets()
    let store = secrets.view(of: SimulatedDisk().process())
    secrets.fail(atCall: 0, with: .before(error))
    secrets.fail(atCall: 1, with: .after(error))
    #expect(throws: error) { try store.write(.token, [1]) }
    #expect(secrets.items.items.isEmpty)
    #expect(throws: error) { try store.write(.token, [1]) }
    #expect(secrets.items.items == [.token])
    #expect(try store.read(.token) == [1])
    #expect(secrets.callCount == 3)
  }

  @Test("TST-2: a process that dies in a call reads nothing more, and another one does")
  func death() throws {
    let disk = SimulatedDisk()
    let secrets = SimulatedSecrets()
    for (fault, count) in [(SimulatedSecrets.Fault.deathBefore, 0), (.deathAfter, 1)] {
      let process = disk.process()
      let store = secrets.view(of: process)
      secrets.fail(atCall: secrets.callCount, with: fault)
      #expect(throws: SecretStoreError.self) { try store.write(.token, [1]) }
      #expect(!process.isAlive)
      #expect(secrets.items.items.count == count)
      #expect(throws: SecretStoreError.self) { try store.read(.token) }
    }
    #expect(try secrets.view(of: disk.process()).read(.token) == [1])
  }

  @Test("TST-2: drawn faults follow the draws, never occur at a chance of 0, and stop")
  func drawn() throws {
    let secrets = SimulatedSecrets()
    let store = secrets.view(of: SimulatedDisk().process())
    secrets.drawFaults(from: Choices(replaying: [1, 0]), oneIn: 2)
    #expect(throws: SecretStoreError.self) { try store.write(.token, [1]) }
    try store.write(.token, [1])
    secrets.drawFaults(from: Choices(seed: 1), oneIn: 0)
    for _ in 0..<20 { _ = try store.read(.token) }
    secrets.fail(atCall: secrets.callCount, with: .before(error))
    secrets.stopFaults()
    _ = try store.read(.token)
  }

  @Test("STO-1 REF-7: a session whose token cannot be stored is unchanged")
  func session() throws {
    let world = SimulatedWorld(Choices(replaying: []))
    defer { world.finish() }
    let process = SimulatedDisk().process()
    let secrets = SimulatedSecrets()
    let configuration = try world.configuration(
      in: process, secrets: secrets.view(of: process), policy: .edu(.staging))
    let session = try world.run { try await Session.open(configuration) }
    for number in 0..<3 { secrets.fail(atCall: secrets.callCount + number, with: .before(error)) }
    #expect(throws: SessionError.secrets(error)) {
      try world.run { try await session.login(.sample) }
    }
    #expect(session.state == .unauthenticated)
    secrets.stopFaults()
    try world.run { try await session.login(.sample) }
    #expect(session.isAuthenticated)
  }
}
