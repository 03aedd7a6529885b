import Foundation
import SessionKit
import SessionTestKit
import Synchronization
import Testing

/// What the app keeps of its user: asked for before a logout, cleared after it.
@Suite("A session and its app's data")
struct LocalDataTests {
  private final class App: Sendable {
    private let told = Mutex<[String]>([])

    var lines: [String] { told.withLock { $0 } }
    func tell(_ line: String) { told.withLock { $0.append(line) } }
  }

  private func configuration(_ bench: Bench, _ app: App) -> SessionConfiguration {
    var configuration = bench.configuration(.keeping)
    configuration.clearLocalData = { app.tell("cleared, \($0)") }
    return configuration
  }

  @Test(
    "SYN-5 a logout whose process died before the data was cleared: the next opening has it done, once"
  )
  func crash() async throws {
    let bench = try Bench()
    let app = App()
    // A process that has no data to clear, as one that dies before it does.
    let first = try await bench.signedIn(.keeping)
    try await first.logout()
    try await first.close()
    for _ in 0..<2 {
      let session = try await Session.open(configuration(bench, app))
      #expect(try await session.logout() == .alreadyLoggedOut, "and it waits for the clearing")
      #expect(app.lines == ["cleared, user"])
      try await session.close()
    }
  }

  @Test("SYN-5 a journal that owes nothing asks for nothing: new, signed in, expired")
  func nothingOwed() async throws {
    let bench = try Bench()
    let app = App()
    var session = try await Session.open(configuration(bench, app))
    try await session.login(bench.credentials)
    try await session.close()
    session = try await Session.open(configuration(bench, app))
    bench.server.failNext(.refresh, with: .status(401))
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(session.state.kind == .expired)
    try await session.close()
    session = try await Session.open(configuration(bench, app))
    try await session.close()
    #expect(app.lines.isEmpty)
  }

  @Test("SYN-5 nobody signs in to data that is being removed, and a logout returns when it is gone")
  func order() async throws {
    let bench = try Bench()
    let app = App()
    var configuration = bench.configuration(.keeping)
    let (server, url) = (bench.server, bench.server.baseURL.appending(path: "materials"))
    configuration.clearLocalData = { _ in
      // Much longer than a logout and a login take, but for one that does not wait.
      for _ in 0..<200 where server.count(of: .login) == 1 && app.lines.isEmpty {
        let request = HTTPRequest(method: "GET", url: url)
        do { _ = try await URLSessionTransport().send(request) } catch { app.tell("\(error)") }
      }
      app.tell("cleared, \(server.count(of: .login)) login")
    }
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    async let logout = session.logout()
    await eventually("the logout") { session.state == .unauthenticated }
    async let login = session.login(bench.credentials)
    _ = try await logout
    app.tell("logged out")
    #expect(app.lines.first == "cleared, 1 login")
    _ = try await login
    app.tell("signed in")
    #expect(app.lines == ["cleared, 1 login", "logged out", "signed in"])
    try await session.close()
  }

  @Test("OUT-3 pending changes keep a logout, by this process's view or by the journal's")
  func pending() async throws {
    let bench = try Bench()
    var configuration = bench.configuration(.keeping)
    let count = Mutex(2)
    configuration.pendingChanges = { count.withLock { $0 } }
    let session = try await Session.open(configuration)
    #expect(try await session.logout() == .alreadyLoggedOut, "nobody's changes")
    let other = try await bench.signedIn(.keeping)
    #expect(session.state == .unauthenticated)
    let error = await failure { () async throws(SessionError) in try await session.logout() }
    #expect(error == .pendingChanges(2))
    #expect(session.isAuthenticated && other.isAuthenticated)
    count.withLock { $0 = 0 }
    #expect(try await session.logout() == .success)
    try await session.close()
    try await other.close()
  }

  @Test("OUT-3 OUT-1 the user's word discards them")
  func discarded() async throws {
    let bench = try Bench()
    var configuration = bench.configuration(.keeping)
    configuration.pendingChanges = { 7 }
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    #expect(try await session.logout(discardingPendingChanges: true) == .success)
    #expect(session.state == .unauthenticated)
    try await session.close()
  }
}
