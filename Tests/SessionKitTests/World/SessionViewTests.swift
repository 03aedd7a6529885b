@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@testable import SessionKit

@Suite("What a session shows after its inputs")
struct SessionViewTests {
  /// What is shown, as far as it can be compared.
  private struct Shown: Equatable {
    let status: SessionStatus
    let token: Generation?
    let deadline: Int64
    let problem: String?

    init(_ session: Session) {
      let view = session.engine.view.current
      status = session.engine.states.current
      (token, deadline) = (view.token?.generation, view.deadline)
      problem = view.storageProblem.map { "\($0)" }
    }
  }

  @Test("STA-3 STA-4 STA-7 after each command two sessions show what they would show anew")
  func current() {
    expect(
      Property("what is shown is current", cases: 60, regressions: .init(around: #filePath))
        .check(live))
  }

  private func live(_ choices: Choices) throws {
    let world = SimulatedWorld(choices)
    defer { world.finish() }
    world.server.weather = .rough
    let (disk, secrets) = (SimulatedDisk(), SimulatedSecrets())
    var policy = SessionPolicy.standard
    if choices.chance(1, in: 3) { policy.ending.inactivityLimit = .seconds(600) }
    let chosen = policy
    let sessions = try (0..<2 as Range<Int>).map { _ in
      let process = disk.process()
      let configuration = try world.configuration(
        in: process, secrets: secrets.view(of: process), policy: chosen)
      return try world.run { try await Session.open(configuration) }
    }
    for _ in 0..<10 as Range<Int> {
      let session = sessions[Int(choices.draw(below: 2))]
      secrets.items.isAvailable = !choices.chance(1, in: 6)
      if choices.chance(1, in: 6) {
        disk.fail(atCall: disk.callCount + choices.draw(in: 0...20), with: .inputOutput)
      }
      let command = choices.draw(below: 7)
      do {
        try world.run {
          switch command {
          case 0: try await session.accessToken()
          case 1: try await session.refresh()
          case 2: try await session.logout()
          case 3: await session.clearError()
          case 4: try await session.lock()
          case 5: try await session.unlock {}
          default: try await session.login(.sample)
          }
        }
      } catch is SessionError {
        // What follows from a failure is shown as well.
      }
      world.run(for: .milliseconds(Int64(choices.draw(in: 0...2_000))))
      for session in sessions { try check(session, in: world) }
    }
  }

  private func check(_ session: Session, in world: SimulatedWorld) throws {
    let before = Shown(session)
    let engine = session.engine
    try world.run { await engine.show() }
    let anew = Shown(session)
    try world.choices.require(before == anew, "\(before) is shown, and not \(anew)")
  }
}
