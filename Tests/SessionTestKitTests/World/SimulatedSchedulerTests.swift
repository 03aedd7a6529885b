import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("TST-2: the scheduler of a simulated world")
struct SimulatedSchedulerTests {
  private actor Counter {
    nonisolated let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private var count = 0

    init(_ executor: any SerialExecutor) { self.executor = executor }

    func next() -> Int {
      count += 1
      return count
    }

    func nextButTwo() async -> Int {
      _ = await after(await after(0))
      return next()
    }

    private func after(_ number: Int) async -> Int { next() }
  }

  /// The order in which three tasks of two halves each run.
  private func order(_ draws: [UInt64]) -> [String] {
    let choices = Choices(replaying: draws)
    let scheduler = SimulatedScheduler()
    let counter = Counter(scheduler.actors())
    let order = Mutex<[String]>([])
    let log = Log()
    for name in ["a", "b", "c"] {
      _ = scheduler.spawn(name) {
        log.add("\(name)1")
        _ = await counter.next()
        log.add("\(name)2")
      }
    }
    while scheduler.step(choices) {}
    _ = order
    return log.lines
  }

  private final class Log: Sendable {
    private let state = Mutex<[String]>([])
    var lines: [String] { state.withLock { $0 } }
    func add(_ line: String) { state.withLock { $0.append(line) } }
  }

  @Test("TST-2: nothing runs before its step, and draws of 0 keep the order of readiness")
  func inOrder() { #expect(order([]) == ["a1", "b1", "c1", "a2", "b2", "c2"]) }

  @Test("TST-2: a draw chooses the next task, and equal draws give equal orders")
  func drawn() {
    #expect(order([2]).first == "c1")
    #expect(Set(order([2, 1, 2, 0, 1])) == Set(order([])))
    let orders = Set((0..<40).map { order(Choices(seed: $0).someDraws) })
    #expect(orders.count > 10)
    #expect(order([2, 1, 2, 0, 1]) == order([2, 1, 2, 0, 1]))
  }

  @Test("TST-2: a task enters an actor once, and a call within the actor is no step")
  func callsWithin() {
    let scheduler = SimulatedScheduler()
    let counter = Counter(scheduler.actors())
    let log = Log()
    _ = scheduler.spawn("a") { log.add("\(await counter.nextButTwo())") }
    var steps = 0
    while scheduler.step(Choices(replaying: [])) { steps += 1 }
    #expect(log.lines == ["3"])
    #expect(steps == 3, "its beginning, in the actor, and after it")
  }

  @Test("TST-2: a step without a ready task says so and draws nothing")
  func empty() {
    let choices = Choices(replaying: [1, 1])
    let scheduler = SimulatedScheduler()
    #expect(!scheduler.step(choices))
    #expect(choices.recorded.isEmpty)
    scheduler.add {}
    #expect(scheduler.step(choices))
    #expect(!scheduler.step(choices))
  }
}

extension Choices { fileprivate var someDraws: [UInt64] { (0..<12).map { _ in draw(below: 3) } } }

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
