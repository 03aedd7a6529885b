import Foundation
import ReplayCommands
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("TST-2: the schedule in reports")
struct ScheduleTests {
  private struct Over: Error {}

  /// The report about a case in a world, replayed from its draws.
  private func story(_ draws: [UInt64], _ body: (SimulatedWorld) -> Void) -> String {
    var settings = PropertySettings()
    settings.replay = ReplayCode(property: "story", draws: draws).text
    let report = Property("story", settings: settings).check { choices in
      body(SimulatedWorld(choices))
      throw Over()
    }
    let lines = report.text.split(separator: "\n").dropFirst(3)
    return lines.prefix { !$0.hasPrefix("Draws") }.joined(separator: "\n")
  }

  /// The outcome of one request.
  private func fate(_ draws: [UInt64], longestWay: Int = 9, isCancelled: Bool = false) -> String {
    story(draws) { world in
      world.server.weather = SimulatedServer.Weather(
        lostRequests: 50, lostAnswers: 50, repetitions: 50, outages: 50, longestWay: longestWay)
      let task = world.spawn("reader") {
        let request = HTTPRequest(
          method: "GET", url: URL(filePath: "/materials"), timeout: .milliseconds(100))
        let answer = try await world.server.send(request)
        world.choices.step("read", state: "\(answer.status)")
      }
      world.run(for: .milliseconds(1))
      if isCancelled { task.cancel() }
      world.run()
    }
  }

  @Test("TST-2: a job that runs before its turn is reported with the names of the tasks")
  func overtaking() {
    let text = story([2, 1]) { world in
      for name in ["first", "second"] { world.spawn(name) { world.choices.step(name) } }
      world.spawn { world.choices.step("third") }
      world.run()
    }
    #expect(
      text == """
              0 ms    task 3 runs before first, second
           1        third
                      second runs before first
           2        second
           3        first
        """, "\(text)")
  }

  @Test("TST-2: the fate of a request is reported with the time of its decision")
  func fates() {
    let lost = fate([3, 1])
    #expect(
      lost == """
                0 ms    reader sends materials #1
                3 ms    materials #1 is lost before the service acts
              100 ms    reader throws: no response arrived, and the server may have acted: the request was lost
        """, "\(lost)")
    let outage = fate([3, 0, 1])
    #expect(
      outage == """
              0 ms    reader sends materials #1
              3 ms    the service does not act on materials #1: 503
           1        read  503
        """, "\(outage)")
    let repeated = fate([3, 0, 0, 1, 0, 4])
    #expect(
      repeated == """
              0 ms    reader sends materials #1
              3 ms    the service acts on materials #1: 401
                      materials #1 arrives again, the service acts again: 401
              7 ms    the answer to materials #1 arrives: 401
           1        read  401
        """, "\(repeated)")
    let unanswered = fate([3, 0, 0, 0, 1])
    #expect(
      unanswered == """
                0 ms    reader sends materials #1
                3 ms    the service acts on materials #1: 401
                        the answer to materials #1 is lost
              100 ms    reader throws: no response arrived, and the server may have acted: the answer was lost
        """, "\(unanswered)")
    let slow = fate([400], longestWay: 900)
    #expect(
      slow == """
                0 ms    reader sends materials #1
              100 ms    materials #1 is given up: too long on its way
                        reader throws: no response arrived, and the server may have acted: no answer in time
        """, "\(slow)")
    let cancelled = fate([9], isCancelled: true)
    #expect(
      cancelled == """
              0 ms    reader sends materials #1
              1 ms    materials #1 is cancelled
                      reader throws: the request was cancelled, and the server may have acted
        """, "\(cancelled)")
  }

  @Test("TST-2: an endless schedule is cut, and the rest is counted")
  func endless() {
    let text = story([]) { world in
      world.spawn("loop") { for _ in 0..<600 { world.spawn("child") { throw Over() } } }
      world.run()
    }
    let lines = text.split(separator: "\n")
    #expect(lines.count == 501)
    #expect(lines.first == "      0 ms    child throws: Over()")
    #expect(lines.last == "              … and 100 more lines of the schedule")
  }
}

@Suite("TST-2: the journal of a simulated world, for people")
struct WorldJournalTests {
  @Test("TST-2: the journal that the report names exists, and sessionreplay reads it")
  func journal() throws {
    let report = Property("in and out", settings: PropertySettings()).check { choices in
      let world = SimulatedWorld(choices)
      defer { world.finish() }
      let disk = SimulatedDisk()
      let configuration = try world.configuration(
        in: disk.process(), secrets: MemorySecretStore(), policy: .edu(.staging))
      try world.run {
        let session = try await Session.open(configuration)
        try await session.login(.sample)
        try await session.logout()
      }
      world.attach(journal: "session.journal", of: disk)
      try choices.require(false, "never")
    }
    let path = try #require(report.journals.first)
    #expect(report.text.hasSuffix("Journal: \(path)\n  sessionreplay timeline \(path)"))
    let output = CollectedOutput()
    let code = ReplayTool.run(
      arguments: ["timeline", path], environment: { _ in nil }, output: output, errors: output)
    #expect(code == 0, "\(output.text)")
    #expect(output.text.contains("login"))
    #expect(output.text.contains("logout"))
  }

  @Test("TST-2: a case that no report mentions writes no journal and keeps no schedule")
  func silent() throws {
    let choices = Choices(seed: 1)
    let world = SimulatedWorld(choices)
    let disk = SimulatedDisk()
    disk.place([1, 2, 3], at: "a.journal")
    world.spawn("first") {}
    world.spawn("second") {}
    world.run()
    world.attach(journal: "a.journal", of: disk)
    #expect(choices.steps.isEmpty)
    #expect(choices.journal == nil)
  }
}
