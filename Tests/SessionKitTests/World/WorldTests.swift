@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@Suite("A simulated world")
struct WorldTests {
  private func live(_ choices: Choices, _ hardships: SimulatedLife.Hardships) throws {
    let life = SimulatedLife(
      choices, rotates: choices.chance(1, in: 2), policy: policy(choices), hardships: hardships)
    let findings = try life.live(commands: choices.draw(in: 1...24))
    try choices.require(
      findings.problems.isEmpty, findings.problems.joined(separator: "; "))
  }

  private func policy(_ choices: Choices) -> SessionPolicy {
    var policy = SessionPolicy.edu(.staging)
    policy.refresh.timeout = .seconds(2)
    if choices.chance(1, in: 2) { policy.ending.onRejection = .keep }
    return policy
  }

  private func expectLife(
    _ name: String, cases: Int = 50, _ hardships: SimulatedLife.Hardships,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let sweep = Sweep(name, takingOneOf: 12)
    expect(
      Property(
        name, cases: sweep.cases(of: cases), shrinkRuns: 600, regressions: .init(around: #filePath)
      )
      .check { try live($0, hardships) },
      sourceLocation: sourceLocation)
  }

  @Test(
    "TST-2 REF-3 random faults cause one request, an answer for every caller, no loss and no leak")
  func rough() {
    expectLife("a session in rough weather", .init())
  }

  @Test("JRN-1 REF-3 two processes on one journal keep the same invariants under random faults")
  func overtaken() {
    expectLife("two processes on one journal in rough weather", .init(processes: 2))
  }

  @Test("JRN-2 OUT-1 REF-7 after a power failure, acknowledged results hold and no token is lost")
  func powerCuts() {
    expectLife("a session whose power fails", .init(powerFails: true))
  }

  @Test(
    "REF-3 REF-7 two processes lose no session at a server that accepts each refresh token once")
  func strict() {
    expectLife(
      "two processes and a server that takes no token twice",
      .init(processes: 2, isStrict: true))
  }

  @Test("RES-3 a store that is locked at times ends no session")
  func locked() {
    expectLife("a session whose secrets are locked now and then", .init(locks: true))
  }

  @Test("RES-3 OUT-1 with a locked store, a late wipe by one process spares the other's items")
  func lockedTogether() {
    expectLife(
      "two processes whose secrets are locked now and then", cases: 60,
      .init(processes: 2, locks: true))
  }

  @Test("RES-5 STO-3 two processes with locked secrets never use the secrets of another journal")
  func everything() {
    expectLife(
      "two processes, power cuts, locks and the secrets of another journal",
      .init(processes: 2, powerFails: true, locks: true, isInherited: true))
  }

  @Test("OUT-4 RES-3 a failed wipe is repeated, and spares the session of a later login")
  func lateWipe() {
    expect(
      Property(
        "a late wipe spares another's session",
        cases: Sweep("late wipes", takingOneOf: 10).cases(of: 20),
        regressions: .init(around: #filePath)
      )
      .check(wipeLate))
  }

  private func wipeLate(_ choices: Choices) throws {
    let world = SimulatedWorld(choices)
    defer { world.finish() }
    let (disk, secrets, policy) = (SimulatedDisk(), SimulatedSecrets(), policy(choices))
    let credentials = Credential.password(LoopbackUser.sample.email, LoopbackUser.sample.password)
    func open() throws -> Session {
      let process = disk.process()
      let configuration = try world.configuration(
        in: process, secrets: secrets.view(of: process), policy: policy)
      return try world.run { try await Session.open(configuration) }
    }
    let (one, two) = (try open(), try open())
    try world.run { try await one.login(credentials) }
    secrets.items.isAvailable = false
    try world.run { try await one.logout() }
    secrets.items.isAvailable = true
    world.run(for: .milliseconds(Int64(choices.draw(in: 0...1_000))))
    try world.run { try await two.login(credentials) }
    choices.step("signed in by another process", state: "\(secrets.items.items.count) items")
    world.run(
      for: .milliseconds(
        PolicyFigures(policy).longestRetryDelay + Int64(choices.draw(in: 0...5_000))))
    try choices.require(
      secrets.items.items.isSuperset(of: [.token, .user]), "the other's items were wiped")
    try world.run { try await two.refresh() }
  }

  @Test("TST-2 the same random choices lead to the same life")
  func deterministic() throws {
    let hardships = SimulatedLife.Hardships(processes: 2, powerFails: true, locks: true)
    for seed in 0..<5 as Range<UInt64> {
      let first = Choices(seed: seed)
      let policy = SessionPolicy.edu(.staging)
      let one = try SimulatedLife(first, rotates: true, policy: policy, hardships: hardships)
        .live(commands: 12)
      let second = Choices(replaying: first.recorded)
      let two = try SimulatedLife(second, rotates: true, policy: policy, hardships: hardships)
        .live(commands: 12)
      #expect(one.log == two.log)
      #expect(one.journal.map(\.name) == two.journal.map(\.name))
      #expect(first.recorded == second.recorded)
    }
  }
}
