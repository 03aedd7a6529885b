import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("TST-2: a call without effect is reported")
struct MisuseTests {
  private func world() -> SimulatedWorld { SimulatedWorld(Choices(replaying: [])) }

  /// The report of a case that fails, or holds, after `body`.
  private func report(
    holds: Bool = false, _ body: (SimulatedWorld) -> Void
  ) -> PropertyReport {
    Property("misuse", cases: 3, settings: PropertySettings()).check { choices in
      let world = SimulatedWorld(choices)
      defer { world.finish() }
      body(world)
      try choices.require(holds, "fails")
    }
  }

  @Test("TST-2: a journal that is not on the disk is named in the report and in the failures")
  func journal() {
    let disk = SimulatedDisk()
    disk.place([1], at: "session.journal")
    let told = "no journal is attached: the disk has no typo.journal, it has session.journal"
    let failing = report { $0.attach(journal: "typo.journal", of: disk) }
    #expect(failing.warnings == [told])
    #expect(failing.journals.isEmpty)
    let world = world()
    world.attach(journal: "typo.journal", of: disk)
    #expect(world.failures == [told])
    world.attach(journal: "session.journal", of: disk)
    #expect(world.failures.count == 1)
  }

  @Test("TST-2: two scripts for the next request apply to the next two, and pending ones are named")
  func next() throws {
    let world = world()
    defer { world.finish() }
    world.server.script(.status(503), for: .materials)
    world.server.script(.status(500), for: .materials)
    #expect(world.server.pendingScripts == ["materials #1", "materials #2"])
    let request = HTTPRequest(method: "GET", url: URL(filePath: "/materials"))
    #expect(try world.run { try await world.server.send(request).status } == 503)
    #expect(world.server.pendingScripts == ["materials #2"])
    #expect(try world.run { try await world.server.send(request).status } == 500)
    #expect(try world.run { try await world.server.send(request).status } == 401)
    #expect(world.server.pendingScripts.isEmpty && world.failures.isEmpty)
  }

  @Test(
    "TST-2: a script that never applies or replaces another is reported, even if the property holds"
  )
  func scripts() throws {
    let request = HTTPRequest(method: "GET", url: URL(filePath: "/materials"))
    let failures = Mutex<[String]>([])
    let held = report(holds: true) { world in
      world.server.script(.requestLost, for: .refresh, number: 0)
      world.server.script(.requestLost, for: .refresh, number: 2)
      world.server.script(.answerLost, for: .refresh, number: 2)
      world.spawn { _ = try await world.server.send(request) }
      world.run()
      world.server.script(.requestLost, for: .materials, number: 1)
      failures.withLock { $0 = world.failures }
    }
    let told = [
      "a script for refresh #0 never applies: requests are counted from 1",
      "a second script for refresh #2 replaces the first",
      "a script for materials #1 never applies: it was sent before",
    ]
    #expect(held.hasPassed)
    #expect(held.warnings == told)
    #expect(failures.withLock { $0 } == told)
    #expect(report { $0.server.script(.delivered, for: .login, number: -1) }.warnings.count == 1)
  }

  @Test("TST-2: a finished world runs nothing and reports it")
  func finished() {
    let world = world()
    world.finish()
    let error = #expect(throws: SimulatedWorld.UnfinishedTask.self) { try world.run("late") { 1 } }
    #expect(error?.ending == .finished)
    #expect(error?.description == "late did not finish: the world is finished. Unfinished: late")
    #expect(world.run() == .finished)
    #expect(world.failures.isEmpty)
    world.spawn("later") {}
    #expect(world.failures == ["later is spawned in a finished world, and never runs"])
    #expect(world.unfinished == 0)
  }

  @Test(
    "TST-2: tasks that run because a world finishes appear neither in the report nor in failures")
  func untold() throws {
    let failures = Mutex<[String]>([])
    let report = Property("finish", settings: PropertySettings()).check { choices in
      let world = SimulatedWorld(choices)
      defer {
        world.finish()
        failures.withLock { $0 = world.failures }
      }
      world.spawn("sleeper") { try await world.clock.sleep(untilUptime: .max) }
      world.spawn("careful") {
        do {
          try await world.clock.sleep(untilUptime: .max)
        } catch {
          choices.step("woken by finish")
          throw Falsified("its own", fileID: "F", line: 1)
        }
      }
      world.run(for: .milliseconds(1))
      choices.step("before")
      try choices.require(false, "fails")
    }
    #expect(report.failure?.steps.map(\.text) == ["before"])
    #expect(failures.withLock { $0 } == ["careful: its own (F:1)"])
  }
}
