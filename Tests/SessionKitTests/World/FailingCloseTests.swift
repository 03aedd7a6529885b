import SessionKit
import SessionTestKit
import Testing

/// A refresh and an immediate close while the secret store fails at some call.
///
/// The server accepts a refresh token only once. Either nothing is lost, or close() throws.
@Suite("A simulated world: a close while the secret store fails")
struct FailingCloseTests {
  private struct Life {
    var calls = 0
    var closing: SessionError?
    var rotated = false
    var goesOn = false
    var names: [String] = []
  }

  private func live(failing calls: Range<Int>, _ error: SecretStoreError) throws -> Life {
    let world = SimulatedWorld(Choices(replaying: []))
    defer { world.finish() }
    world.server.settings.rotatesRefreshTokens = true
    world.server.settings.reuseEndsSession = true
    let (disk, secrets) = (SimulatedDisk(), SimulatedSecrets())
    let process = disk.process()
    let configuration = try world.configuration(
      in: process, secrets: secrets.view(of: process), policy: .edu(.staging))
    let session = try world.run { try await Session.open(configuration) }
    try world.run { try await session.login(.sample) }
    let first = secrets.callCount
    for call in calls { secrets.fail(atCall: first + call, with: .before(error)) }
    try world.run {
      do throws(SessionError) { try await session.refresh() } catch {}
    }
    var life = Life()
    life.closing = try world.run {
      do throws(SessionError) {
        try await session.close()
        return nil
      } catch {
        return error
      }
    }
    life.calls = secrets.callCount - first
    life.rotated = world.server.count(of: .refresh) > 0
    secrets.stopFaults()
    process.kill()
    let next = disk.process()
    let reopened = try world.configuration(
      in: next, secrets: secrets.view(of: next), policy: .edu(.staging))
    let again = try world.run { try await Session.open(reopened) }
    life.goesOn = try world.run {
      do throws(SessionError) {
        try await again.refresh()
        return true
      } catch {
        return false
      }
    }
    try world.run { try await again.close() }
    return life
  }

  @Test(
    "REF-11 if close() does not throw, no token is lost, whichever call of the secret store fails",
    arguments: [
      SecretStoreError.noSpace(item: .token, place: "store"),
      .failed(item: .token, place: "store", operation: "write", code: 5),
    ])
  func nothingLostUnsaid(error: SecretStoreError) throws {
    let whole = try live(failing: 0..<0, error)
    #expect(whole.closing == nil && whole.rotated && whole.goesOn)
    var (losses, survivals) = (0, 0)
    for first in 0..<(whole.calls + 2) {
      for count in [1, 2, 3, 8, 40] {
        let life = try live(failing: first..<(first + count), error)
        if life.closing == nil {
          survivals += 1
          #expect(life.goesOn, "calls \(first) to \(first + count): lost, and nobody was told")
        } else {
          losses += 1
          guard case .answerDropped? = life.closing.failure else {
            Issue.record("\(String(describing: life.closing))")
            continue
          }
        }
      }
    }
    #expect(losses > 0 && survivals > losses)
  }
}
