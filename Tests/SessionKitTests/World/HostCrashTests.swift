import Foundation
import SessionKit
import SessionTestKit
import Synchronization
import Testing

/// A process dies at each step of a logout that clears the app's data.
@Suite("A simulated world: the app's data")
struct HostCrashTests {
  private final class App: Sendable {
    private let state = Mutex((data: true, clearings: 0))
    var hasData: Bool { state.withLock { $0.data } }
    var clearings: Int { state.withLock { $0.clearings } }
    func clear() { state.withLock { $0 = (false, $0.clearings + 1) } }
  }

  /// What is left after the crash.
  private struct Found {
    let hasDied: Bool
    let wasTold: Bool
    let state: SessionState.Kind
    let clearings: Int
    let hasData: Bool
    let again: Int
  }

  private let credentials = Credential.password(
    LoopbackUser.sample.email, LoopbackUser.sample.password)

  private func logOut(dyingAt call: Int, losing: Bool) throws -> Found {
    let world = SimulatedWorld(Choices(replaying: []))
    defer { world.finish() }
    let (disk, secrets, app) = (SimulatedDisk(), SimulatedSecrets(), App())
    func configuration(_ disk: SimulatedDisk) throws -> (SimulatedProcess, SessionConfiguration) {
      let process = disk.process()
      var configuration = try world.configuration(
        in: process, secrets: secrets.view(of: process), policy: .edu(.staging))
      // A dead process clears nothing.
      configuration.add(
        host: SessionHooks(clearLocalData: { _ in if process.isAlive { app.clear() } }))
      return (process, configuration)
    }
    let (process, first) = try configuration(disk)
    let session = try world.run { try await Session.open(first) }
    let credentials = credentials
    try world.run { try await session.login(credentials) }
    disk.fail(atCall: disk.callCount + call, with: .death(afterBytes: 0))
    let ending = Ending()
    world.spawn("logout") {
      try await session.logout()
      if process.isAlive { ending.tell() }
    }
    world.run(for: .seconds(20))
    let hasDied = !process.isAlive
    process.kill()
    let left = losing ? disk.crash(.losingAll) : disk.copy()
    let (_, second) = try configuration(left)
    let reopened = try world.run { try await Session.open(second) }
    world.run(for: .seconds(1))
    let (state, clearings) = (reopened.state.kind, app.clearings)
    try world.run { try await reopened.close() }
    let (_, third) = try configuration(left)
    let last = try world.run { try await Session.open(third) }
    world.run(for: .seconds(1))
    try world.run { try await last.close() }
    return Found(
      hasDied: hasDied, wasTold: ending.isTold, state: state, clearings: clearings,
      hasData: app.hasData, again: app.clearings - clearings)
  }

  private final class Ending: Sendable {
    private let told = Mutex(false)
    var isTold: Bool { told.withLock { $0 } }
    func tell() { told.withLock { $0 = true } }
  }

  @Test(
    "SYN-5 OUT-1 after a death during a logout, the data is gone exactly if the session is",
    arguments: [true, false])
  func logout(losing: Bool) throws {
    var (deaths, kept, cleared) = (0, 0, 0)
    for call in 0..<200 {
      let found = try logOut(dyingAt: call, losing: losing)
      deaths += found.hasDied ? 1 : 0
      #expect(found.hasData == (found.state == .authenticated), "at call \(call): \(found)")
      #expect(found.clearings <= 2 && found.again == 0, "at call \(call): \(found)")
      #expect(!found.wasTold || found.state == .unauthenticated, "at call \(call): \(found)")
      if found.state == .authenticated { kept += 1 } else { cleared += 1 }
      guard found.hasDied else { break }
    }
    #expect(deaths > 10 && kept > 1 && cleared > 5, "\(deaths) deaths, \(kept) kept, \(cleared)")
  }
}
