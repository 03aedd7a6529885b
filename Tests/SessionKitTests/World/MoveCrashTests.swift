@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionTestKit
import Synchronization
import Testing

@testable import SessionKit

/// A session that moves in a process that dies, while a process of the former place is still running.
private final class MovingLife: Sendable {
  enum Point: Hashable {
    case disk(Int, bytes: Int)
    /// A moment of the former or the new store.
    case secret(Int, moment: Int)
    /// The disk is full from a call on.
    case full(Int)
  }

  let world = SimulatedWorld(Choices(replaying: []))
  let stores = [SimulatedSecrets(), SimulatedSecrets()]

  private func configuration(_ process: SimulatedProcess, moves: Bool) throws
    -> SessionConfiguration
  {
    var configuration = try world.configuration(
      journal: moves ? "new.journal" : "old.journal", in: process,
      secrets: stores[moves ? 1 : 0].view(of: process), policy: .development)
    configuration.http.transport = MortalTransport(world.server, process)
    guard moves else { return configuration }
    configuration.formerPlace = .init(
      path: "old.journal", options: .on(process), secrets: stores[0].view(of: process))
    return configuration
  }

  /// Moves, fails at `point`, and returns the moments of the life and what is wrong afterwards.
  func live(_ point: Point?, isCut: Bool) throws -> (
    points: [Point], problems: [String], died: Bool
  ) {
    defer { world.finish() }
    // A second refresh with one token ends the session, so no test can miss one.
    world.server.settings.rotationGrace = .zero
    let disk = SimulatedDisk()
    let (older, newer) = (disk.process(), disk.process())
    let old = try world.run { [self] in
      let session = try await Session.open(try configuration(older, moves: false))
      try await session.login(.sample)
      return session
    }
    let (calls, changes) = (disk.callCount, stores.map { $0.callCount * 2 })
    switch point {
    case .disk(let call, let bytes)?:
      disk.fail(atCall: call, with: .death(afterBytes: bytes))
    case .full(let call)?: disk.fail(atCall: call, with: .noSpace)
    case .secret(let store, let moment)?: stores[store].blow(after: moment)
    case nil: break
    }
    let setup = try configuration(newer, moves: true)
    world.spawn("the move") { try await Session.open(setup).close() }
    world.run(for: .seconds(20))
    var points: [Point] = []
    if point == nil {
      var counts = CrashCounts()
      counts.disk = disk.trace[calls...]
      for case .disk(let call, let bytes) in counts.points {
        points += [.disk(call, bytes: bytes), .full(call)]
      }
      for store in stores.indices {
        points += (changes[store]..<stores[store].callCount * 2).map { .secret(store, moment: $0) }
      }
    }
    let died = !newer.isAlive
    newer.kill()
    for store in stores { store.stopFaults() }
    let problems = Problems()
    if isCut {
      older.kill()
      try judge(disk.crash(.losingAll), problems)
    } else {
      world.spawn("a refresh of the old process") { try await old.refresh() }
      world.run(for: .seconds(10))
      try judge(disk, problems)
      problems.check(old.isAuthenticated, "the old process has logged its user out")
    }
    return (points, problems.all, died)
  }

  private func judge(_ disk: SimulatedDisk, _ problems: Problems) throws {
    for turn in 0..<2 {
      let setup = try configuration(disk.process(), moves: true)
      let session = try world.run {
        let session = try await Session.open(setup)
        try await session.refresh()
        return session
      }
      problems.check(session.isAuthenticated, "\(turn): \(session.state)")
      // The first opening may only repair the end of the former journal.
      let problem = turn == 0 ? nil : session.moveProblem
      problems.check(problem == nil, "it has not moved: \(problem, default: "")")
      try world.run { try await session.close() }
    }
    problems.check(stores[0].items.items.isEmpty, "left: \(stores[0].items.items)")
    problems.check(world.server.mostTokenRequestsAtOnce <= 1, "two refreshes at once")
    problems.check(world.escapes.isEmpty, "something has escaped: \(world.escapes)")
  }
}

@Suite("Moves whose process dies")
struct MoveCrashTests {
  @Test("ACC-3 after a death or a full disk at any moment of a move, one session is left")
  func everyMoment() throws {
    let whole = try MovingLife().live(nil, isCut: false)
    #expect(whole.problems == [])
    #expect(whole.points.count > 60)
    let moments = whole.points.flatMap { [($0, false), ($0, true)] }
    var died = 0
    for (point, isCut) in Sweep("moves", takingOneOf: 8).places(of: moments) {
      do {
        let found = try MovingLife().live(point, isCut: isCut)
        #expect(found.problems == [], "\(point), cut \(isCut)")
        died += found.died ? 1 : 0
      } catch {
        Issue.record("\(point), cut \(isCut): \(error)")
      }
    }
    #expect(died > 0)
  }
}
