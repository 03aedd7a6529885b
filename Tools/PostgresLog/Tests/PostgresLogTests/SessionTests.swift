import FileBackend
import Foundation
import SessionCore
import SessionJournal
import SessionKit
import SessionPool
import Testing

@testable import PostgresLog

@Suite("Sessions in PostgreSQL", .serialized, .timeLimit(.minutes(5)))
struct SessionTests {
  private func newFile() -> String {
    FileManager.default.temporaryDirectory.appending(path: "server-\(UUID().uuidString)").path
  }

  private func configuration(_ place: PostgresLogPlace, _ file: String) -> SessionConfiguration {
    SessionConfiguration(
      log: place, backend: FileBackend(path: file), secrets: place.secrets)
  }

  @Test("SCL-1 REF-3 twenty processes with an expired token make one refresh")
  func oneRefresh() async throws {
    let server = try Server()
    let place = PostgresLogPlace("account", in: try server.database())
    let file = newFile()
    let session = try await Session.open(configuration(place, file))
    try await session.login(.password("a@example.org", "a long password"))
    try await session.close()
    try await Task.sleep(for: .seconds(1.2))
    let workers = try (0..<20).map { _ in
      try server.start("logworker", ["token", "account", file])
    }
    for worker in workers {
      let ended = try worker.end()
      #expect(ended.status == 0 && ended.output == "2\n", "\(ended)")
    }
    #expect(FileBackend(path: file).refreshes == 1)
  }

  @Test("SCL-1 a session waits until a stopped process has lost the log, and others do not wait")
  func frozen() async throws {
    let server = try Server()
    // One connection for both accounts: a call that waited with it would stop the other account.
    let database = try server.database { $0.connections = 1 }
    func session(_ key: String) async throws -> Session {
      let session = try await Session.open(
        configuration(PostgresLogPlace(key, in: database), newFile()))
      try await session.login(.password("\(key)@example.org", "a long password"))
      return session
    }
    let (held, free) = (try await session("held"), try await session("free"))
    let holder = try server.start("logworker", ["freeze", "held", LogStep.locked.rawValue])
    #expect(holder.firstOutput().contains("locked"))
    let start = ContinuousClock.now
    async let logout: Void = {
      _ = try await held.logout()
    }()
    try await Task.sleep(for: .milliseconds(100))
    _ = try await free.logout()
    let other = ContinuousClock.now - start
    #expect(other < .seconds(1) && held.isAuthenticated, "\(other)")
    try await logout
    let own = ContinuousClock.now - start
    #expect(own > .milliseconds(500) && own < .seconds(6), "\(own)")
    #expect(!held.isAuthenticated)
    #expect(kill(holder.identifier, SIGKILL) == 0)
    _ = try holder.end()
    try await held.close()
    try await free.close()
  }

  @Test("SCL-1 a pool discards a session whose log has lost commits, and opens it again")
  func lostCommits() async throws {
    let server = try Server()
    let place = PostgresLogPlace("account", in: try server.database())
    let configuration = configuration(place, newFile())
    let pool = SessionPool(limit: 1) { _ in try await Session.open(configuration) }
    _ = try await pool.with("account") { session in
      try await session.login(.password("a@example.org", "a long password"))
    }
    try await server.lose { try await pool.with("account") { _ = try await $0.logout() } }
    // One call finds it, with the next commit or a look at the log.
    let start = ContinuousClock.now
    var isSignedIn = false
    while !isSignedIn, .now - start < .seconds(10) {
      isSignedIn = try await pool.with("account") { session in
        if session.activity == .replaced { return false }
        return session.isAuthenticated
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(isSignedIn)
    let token = try await pool.with("account") { try await $0.accessToken().plaintext }
    #expect(token.hasPrefix("access-"))
    await pool.close()
  }

  @Test("SCL-1 a session goes on in another opening, and a logout reaches both")
  func story() async throws {
    let server = try Server()
    let place = PostgresLogPlace("account", in: try server.database())
    let file = newFile()
    let first = try await Session.open(configuration(place, file))
    try await first.login(.password("a@example.org", "a long password"))
    let second = try await Session.open(configuration(place, file))
    #expect(second.isAuthenticated)
    #expect(try await second.accessToken().plaintext.hasPrefix("access-"))
    try await second.logout()
    let start = ContinuousClock.now
    while first.isAuthenticated, .now - start < .seconds(10) {
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(!first.isAuthenticated)
    #expect(try place.secrets.read(.token) == nil)
    try await first.close()
    try await second.close()
  }
}
