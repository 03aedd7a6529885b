import Dispatch
import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("TST-2: a simulated world reports whether it rests, loops or waits")
struct WorldRunTests {
  private func world(_ draws: [UInt64] = []) -> SimulatedWorld {
    SimulatedWorld(Choices(replaying: draws))
  }

  @Test("TST-2: a loop of sleeps in the past is reported as restless, and does not hang")
  func circles() {
    let world = world()
    world.spawn("circle") {
      while !Task.isCancelled { try await world.clock.sleep(untilUptime: 0) }
    }
    #expect(world.run(steps: 1_000) == .restless)
    world.finish()
    #expect(world.unfinished == 0)
  }

  @Test("TST-2: a world that runs without end does not overflow")
  func forEver() {
    let world = world()
    world.spawn { try await world.clock.sleep(untilUptime: .max) }
    #expect(world.run(for: .milliseconds(Int64.max)) == .asleep)
    #expect(world.clock.now().uptime == .max)
  }

  @Test(
    "TST-2: tasks that neither sleep nor are ready are named, and so are those that others wake")
  func escape() {
    let world = world()
    let (stream, source) = AsyncStream.makeStream(of: Void.self)
    world.spawn("waits for ever") { for await _ in stream {} }
    world.spawn("sleeps") { try await world.clock.sleep(untilUptime: 2_000) }
    #expect(world.run(for: .milliseconds(10)) == .timePassed)
    #expect(world.run() == .waiting)
    #expect(world.waiting == ["waits for ever"])
    #expect(world.escapes.isEmpty)
    source.finish()
    #expect(world.run() == .asleep)
  }

  /// Runs work on another thread and resumes when it is done.
  private static func elsewhere(_ work: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      work()
      done.signal()
    }
    done.wait()
  }

  @Test("TST-2: work that wakes a task from another thread is reported as escaped")
  func escaped() {
    let world = world()
    let (stream, source) = AsyncStream.makeStream(of: Void.self)
    let (elsewhere, _) = AsyncStream.makeStream(of: Void.self)
    world.spawn("reader") {
      for await _ in stream {}
      for await _ in elsewhere {}
    }
    world.spawn("bridge") { Self.elsewhere { source.finish() } }
    #expect(world.run() == .escaped)
    #expect(world.escapes == ["reader"])
    #expect(world.waiting == ["reader"])
    world.finish()
  }

  @Test("TST-2: run returns or throws the result of its work, and advances no time without need")
  func values() throws {
    struct Over: Error {}
    let world = world()
    let start = world.clock.now().uptime
    world.spawn("late") { try await world.clock.sleep(untilUptime: start + 1_000_000) }
    let value = try world.run {
      try await world.clock.sleep(untilUptime: start + 5)
      return 42
    }
    #expect(value == 42)
    #expect(world.clock.now().uptime == start + 5)
    #expect(throws: Over.self) { try world.run { throw Over() } }
    #expect(world.failures.isEmpty)
    let error = #expect(throws: SimulatedWorld.UnfinishedTask.self) {
      try world.run("nap", for: .milliseconds(10)) {
        try await world.clock.sleep(untilUptime: start + 500_000)
      }
    }
    #expect(error?.ending == .timePassed)
    #expect(error?.description == "nap did not finish: its time has passed. Unfinished: late, nap")
    world.finish()
  }

  @Test("TST-2: a finished world leaves no object alive, whatever slept or waited in it")
  func leaks() throws {
    final class Token: Sendable {}
    weak var sleeper: Token?
    weak var waiter: Token?
    weak var left: SimulatedWorld?
    do {
      let (one, two) = (Token(), Token())
      (sleeper, waiter) = (one, two)
      let world = world()
      left = world
      let configuration = try world.configuration(
        in: SimulatedDisk().process(), secrets: MemorySecretStore(), policy: .edu(.staging))
      let session = try world.run {
        let session = try await Session.open(configuration)
        try await session.login(.sample)
        return session
      }
      world.spawn { for try await _ in session.events { _ = two } }
      world.spawn {
        try await world.clock.sleep(untilUptime: .max)
        _ = one
      }
      world.run(for: .milliseconds(1))
      #expect(world.unfinished == 2)
      world.finish()
      #expect(world.unfinished == 0)
    }
    #expect(sleeper == nil)
    #expect(waiter == nil)
    #expect(left == nil)
  }

  @Test("TST-2: a world that is dropped leaves no scheduler alive", arguments: [true, false])
  func schedulers(isFinished: Bool) throws {
    weak var scheduler: SimulatedScheduler?
    do {
      let world = world()
      scheduler = world.scheduler
      let configuration = try world.configuration(
        in: SimulatedDisk().process(), secrets: MemorySecretStore(), policy: .edu(.staging))
      try world.run {
        let session = try await Session.open(configuration)
        try await session.login(.sample)
        try await session.close()
      }
      if isFinished { world.finish() }
    }
    #expect(scheduler == nil)
  }
}

@Suite("TST-2: how fast a world is")
struct WorldFigures {
  /// A run of ten commands of one app on an unreliable network; how many of them succeeded.
  private static func life(_ choices: Choices, inMemory: Bool) throws -> Int {
    let world = SimulatedWorld(choices)
    defer { world.finish() }
    world.server.weather = .rough
    let configuration =
      inMemory
      ? try world.configuration(log: MemoryLog(), policy: .edu(.staging))
      : try world.configuration(
        in: SimulatedDisk().process(), secrets: MemorySecretStore(), policy: .edu(.staging))
    let session = try world.run { try await Session.open(configuration) }
    var successes = 0
    for command in 0..<10 as Range<Int> {
      let draw = choices.draw(below: 4)
      do {
        try world.run {
          switch (session.isAuthenticated, command, draw) {
          case (false, _, _): try await session.login(.sample)
          case (true, 9, _), (true, _, 3): try await session.logout()
          case (true, _, 0): try await session.accessToken()
          case (true, _, _): try await session.refresh()
          }
        }
        successes += 1
      } catch is SessionError { continue }
    }
    return successes
  }

  @Test(
    "TST-2 SCL-1 most of ten commands succeed on any network, on a disk and in a log in memory",
    arguments: [false, true])
  func lives(inMemory: Bool) throws {
    let successes = try (0..<20 as Range<UInt64>).map {
      try Self.life(Choices(seed: $0), inMemory: inMemory)
    }
    #expect(successes.reduce(0, +) > 100)
    #expect(Set(successes).count > 1)
  }
}
