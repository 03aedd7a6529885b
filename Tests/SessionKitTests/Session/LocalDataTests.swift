import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

/// The data that an app stores for its user: counted before a logout, cleared after it.
@Suite("A session and its app's data")
struct LocalDataTests {
  private final class App: Sendable {
    private let told = Mutex<[String]>([])

    var lines: [String] { told.withLock { $0 } }
    func tell(_ line: String) { told.withLock { $0.append(line) } }
  }

  @Test("SYN-5 a login waits until the old data is cleared, and so does the logout")
  func order() async throws {
    let bench = try Bench()
    let app = App()
    var configuration = bench.configuration(.keeping)
    let (server, url) = (bench.server, bench.server.baseURL.appending(path: "materials"))
    let clear: @Sendable (LogoutReason) async throws -> Void = { _ in
      // Much longer than a logout and a login take if the login does not wait.
      for _ in 0..<200 where server.count(of: .login) == 1 && app.lines.isEmpty {
        let request = HTTPRequest(method: "GET", url: url)
        do { _ = try await URLSessionTransport().send(request) } catch { app.tell("\(error)") }
      }
      app.tell("cleared, \(server.count(of: .login)) login")
    }
    configuration.add(host: SessionHooks(clearLocalData: clear))
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

  /// A hook that runs until a test ends it, even if its task is cancelled.
  private func slow(_ bench: Bench, _ app: App) -> (SessionConfiguration, @Sendable () -> Void) {
    var configuration = bench.configuration(.keeping)
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let hooks = SessionHooks(clearLocalData: { _ in
      app.tell("clearing")
      await Task { for await _ in ends {} }.value
      app.tell("cleared, \(bench.server.count(of: .login)) login")
    })
    configuration.add(host: hooks)
    return (configuration, { end.finish() })
  }

  @Test("SYN-5 a login also waits for the clearing after a logout that it had not seen")
  func absorbed() async throws {
    let bench = try Bench()
    let app = App()
    let (configuration, end) = slow(bench, app)
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    let other = try await bench.open(.keeping)
    try await other.logout()
    #expect(session.isAuthenticated, "it has not looked")
    let login = Task { try await session.login(bench.credentials) }
    await eventually("the clearing") { app.lines == ["clearing"] }
    // A login that does not wait would arrive within this time.
    let url = bench.server.baseURL.appending(path: "materials")
    for _ in 0..<50 where bench.server.count(of: .login) == 1 {
      do {
        _ = try await URLSessionTransport().send(HTTPRequest(method: "GET", url: url))
      } catch {
        Issue.record(error)
      }
    }
    end()
    _ = try await login.value
    #expect(app.lines == ["clearing", "cleared, 1 login"])
    #expect(session.isAuthenticated)
    try await session.close()
    try await other.close()
  }

  @Test(
    "SYN-5 LOG-10 a caller that waits for the clearing of data can be cancelled",
    .timeLimit(.minutes(2)))
  func cancelled() async throws {
    let bench = try Bench()
    let app = App()
    let (configuration, end) = slow(bench, app)
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    let logout = Task { try await session.logout() }
    await eventually("the clearing") { app.lines == ["clearing"] }
    let login = Task { try await session.login(bench.credentials) }
    login.cancel()
    await #expect(throws: SessionError.cancelled) { _ = try await login.value }
    logout.cancel()
    await #expect(throws: SessionError.cancelled) { _ = try await logout.value }
    #expect(session.state == .unauthenticated && app.lines == ["clearing"], "the logout goes on")
    end()
    try await session.login(bench.credentials)
    #expect(app.lines == ["clearing", "cleared, 1 login"])
    try await session.close()
  }

  @Test(
    "SYN-5 a close does not wait for the clearing, and ends the logins that do",
    .timeLimit(.minutes(2)))
  func closed() async throws {
    let bench = try Bench()
    let app = App()
    let (configuration, end) = slow(bench, app)
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    let other = try await bench.open(.keeping)
    try await other.logout()
    // One login is about to be sent, and one waits for its turn.
    let first = Task { try await session.login(bench.credentials) }
    await eventually("the clearing") { app.lines == ["clearing"] }
    let second = Task { try await session.login(bench.credentials) }
    try await session.close()
    await #expect(throws: SessionError.self) { _ = try await first.value }
    await #expect(throws: SessionError.self) { _ = try await second.value }
    #expect(bench.server.count(of: .login) == 1)
    let again = try await Session.open(configuration)
    await eventually("the next one clears") { app.lines == ["clearing", "clearing"] }
    end()
    try await again.login(bench.credentials)
    try await again.close()
    try await other.close()
  }

  @Test("OUT-3 pending changes prevent a logout, whether or not this process has seen the login")
  func pending() async throws {
    let bench = try Bench()
    var configuration = bench.configuration(.keeping)
    let count = Mutex(2)
    configuration.add(host: SessionHooks(pendingChanges: { count.withLock { $0 } }))
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

  /// Lets time pass until the work has ended, and returns its result.
  private func passing<Value: Sendable>(
    _ bench: Bench, _ what: Comment, _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let ended = Mutex(false)
    let task = Task {
      defer { ended.withLock { $0 = true } }
      return try await work()
    }
    await eventually(what) {
      bench.clock.advance(by: .seconds(1))
      return ended.withLock { $0 }
    }
    guard ended.withLock({ $0 }) else {
      task.cancel()
      throw SessionError.cancelled
    }
    return try await task.value
  }

  @Test(
    "SYN-5 OUT-2 a hook that exceeds its time limit is cancelled, and the logout is partial",
    .timeLimit(.minutes(5)))
  func limit() async throws {
    let bench = try Bench()
    let app = App()
    var configuration = bench.configuration(.keeping)
    configuration.clearLocalDataLimit = .seconds(20)
    let hooks = SessionHooks(clearLocalData: { _ in
      app.tell("clearing")
      // A hook that ends when its task is cancelled.
      try await Task.sleep(for: .seconds(100_000))
    })
    configuration.add(host: hooks)
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    let outcome = try await passing(bench, "the logout") { try await session.logout() }
    #expect(outcome == .partial(.localDataRemains))
    // As if it had thrown: it is called again before the next login.
    let credentials = bench.credentials
    try await passing(bench, "the sign-in") {
      while !session.isAuthenticated {
        // A hook whose task was just cancelled may not have returned yet.
        do throws(SessionError) { try await session.login(credentials) } catch .clearingLocalData {
          await Task.yield()
        }
      }
    }
    #expect(session.isAuthenticated && app.lines.count >= 2)
    #expect(try !bench.records().map(\.name).contains("localDataCleared"))
    #expect(try await session.close())
  }

  @Test(
    "SYN-5 no login succeeds while a hook runs beyond its limit, and a close reports the hook",
    .timeLimit(.minutes(5)))
  func overrun() async throws {
    let bench = try Bench()
    let app = App()
    let (made, end) = slow(bench, app)
    var configuration = made
    configuration.clearLocalDataLimit = .seconds(20)
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    let credentials = bench.credentials
    let outcome = try await passing(bench, "the logout") { try await session.logout() }
    #expect(outcome == .partial(.localDataRemains))
    for _ in 0..<2 {
      let error = await failure { () async throws(SessionError) in
        try await session.login(credentials)
      }
      #expect(error == .clearingLocalData)
    }
    #expect(app.lines == ["clearing"] && bench.server.count(of: .login) == 1)
    let other = try await Session.open(configuration)
    #expect(try await !other.close())
    end()
    await eventually("the first call has ended") { app.lines.contains("cleared, 1 login") }
    try await eventually("and that is noted") {
      try bench.records().map(\.name).contains("localDataCleared")
    }
    try await session.login(credentials)
    #expect(session.isAuthenticated)
    #expect(try await session.close())
  }
}
