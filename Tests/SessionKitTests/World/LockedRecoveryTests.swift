import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

/// A token is stored and not announced, and the items cannot be read when they are needed.
///
/// Unreadable does not mean missing (RES-3), so the session does not use an older token and does
/// not end.
@Suite("A simulated world: a stored token that cannot be read yet")
struct LockedRecoveryTests {
  private let world = SimulatedWorld(Choices(replaying: []))
  private let disk = SimulatedDisk()
  private let secrets = MemorySecretStore()

  private func open(_ process: SimulatedProcess, _ store: (any SecretStore)? = nil) throws
    -> Session
  {
    var configuration = try world.configuration(
      in: process, secrets: store ?? secrets, policy: .edu(.staging))
    configuration.http.transport = MortalTransport(world.server, process)
    return try world.run { [configuration] in try await Session.open(configuration) }
  }

  private func error(of session: Session) throws -> SessionError? {
    try world.run {
      do throws(SessionError) {
        try await session.refresh()
        return nil
      } catch {
        return error
      }
    }
  }

  /// The first process died after it stored its second token.
  ///
  /// The second process has had the session open the whole time.
  private func sibling() throws -> Session {
    world.server.settings.rotatesRefreshTokens = true
    world.server.settings.reuseEndsSession = true
    let process = disk.process()
    let tokens = Mutex(0)
    // The process dies as soon as it has stored its second token.
    let store = InterceptedStore(
      secrets,
      after: { operation, item in
        guard operation == .write, item == .token else { return }
        let count = tokens.withLock { tokens in
          tokens += 1
          return tokens
        }
        if count == 2 { process.kill() }
      })
    let one = try open(process, store)
    try world.run { try await one.login(.sample) }
    let other = try open(disk.process())
    world.spawn("one refreshes") { try await one.refresh() }
    world.run(for: .seconds(1))
    #expect(!process.isAlive)
    world.clock.advance(by: .seconds(60))
    return other
  }

  @Test("RES-3 REF-7 a locked store delays the refresh after a lost peer request")
  func lockedBeforeRequest() throws {
    defer { world.finish() }
    let sibling = try sibling()
    secrets.isAvailable = false
    guard case .secrets? = try error(of: sibling).failure else {
      Issue.record("it is not told that the items cannot be read")
      return
    }
    #expect(sibling.isAuthenticated && world.server.count(of: .refresh) == 1)
    secrets.isAvailable = true
    #expect(try error(of: sibling) == nil)
    #expect(sibling.currentToken?.generation == Generation(2))
    #expect(world.server.count(of: .refresh) == 1)
    #expect(try error(of: sibling) == nil && world.server.count(of: .refresh) == 2)
  }

  @Test(
    "RES-3 REF-6 after a refusal with a locked store, the session ends once it is readable"
  )
  func lockedBeforeVerdict() throws {
    defer { world.finish() }
    let one = try open(disk.process())
    try world.run { try await one.login(.sample) }
    world.server.revokeAllTokens()
    secrets.isAvailable = false
    #expect(try error(of: one) != nil)
    #expect(one.isAuthenticated)
    secrets.isAvailable = true
    world.run(for: .seconds(60))
    #expect(!one.isAuthenticated)
    #expect(secrets.items.isEmpty)
  }
}
