import AsyncHTTPClient
import Foundation
import Frontend
import Logging
import ServerAdapters
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("A backend for a frontend", .timeLimit(.minutes(2)))
struct FrontendTests {
  @Test("a browser logs in, calls with its cookie alone, and logs out")
  func flow() async throws {
    let bench = try FrontendBench()
    let server = try await bench.start()
    let browser = Browser(port: server.port)
    #expect(try await browser.get("api/materials").status == 401)
    #expect(try await browser.login("wrong").status == 401)
    let login = try await browser.login(LoopbackUser.sample.password)
    #expect(login.status == 204)
    let cookie = try #require(login.header("Set-Cookie"))
    for word in ["HttpOnly", "Secure", "SameSite=Strict", "Path=/"] {
      #expect(cookie.contains(word))
    }
    #expect(bench.backend.secrets.allSatisfy { !cookie.contains($0) }, "the cookie has no token")
    let materials = try await browser.get("api/materials")
    #expect(materials.status == 200 && materials.header("Cache-Control") == "no-store")
    #expect(String(decoding: materials.body, as: UTF8.self).contains("Volcanoes"))
    #expect(try await browser.get("me").body == Array(LoopbackUser.sample.id.utf8))
    #expect(try await browser.post("logout").status == 204)
    #expect(try await browser.get("api/materials").status == 401)
    #expect(bench.backend.count(of: .logout) == 1)
    #expect(try bench.accounts.isEmpty, "a logout removes the account's files")
    await server.stop()
  }

  @Test("concurrent requests of a browser with an expired token cause one refresh")
  func refresh() async throws {
    let bench = try FrontendBench()
    let server = try await bench.start()
    let browser = Browser(port: server.port)
    #expect(try await browser.login(LoopbackUser.sample.password).status == 204)
    bench.backend.revokeAccessTokens()
    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<20 { group.addTask { try await browser.get("api/materials").status } }
      return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
    }
    #expect(statuses == [200])
    #expect(bench.backend.count(of: .refresh) == 1)
    await server.stop()
  }

  @Test("after a restart of the server the browser is still logged in")
  func restart() async throws {
    let bench = try FrontendBench()
    var server = try await bench.start()
    let browser = Browser(port: server.port)
    #expect(try await browser.login(LoopbackUser.sample.password).status == 204)
    #expect(await server.stop() == 0, "SIGTERM ends it in order")
    server = try await bench.start()
    browser.port = server.port
    #expect(try await browser.get("api/materials").status == 200)
    #expect(bench.backend.count(of: .login) == 1)
    await server.stop()
  }

  @Test("neither a made-up cookie nor a page of another site is accepted")
  func foreign() async throws {
    let bench = try FrontendBench()
    let server = try await bench.start()
    let browser = Browser(port: server.port)
    #expect(try await browser.login(LoopbackUser.sample.password).status == 204)
    let other = Browser(port: server.port)
    let own = try #require(browser.cookie)
    let key = try #require(own.split(separator: ".").first)
    for text in ["\(key).\(String(repeating: "0", count: 64))", "../../etc.x", "\(key)", ""] {
      other.cookie = text.isEmpty ? nil : text
      #expect(try await other.get("api/materials").status == 401)
    }
    browser.isOwnPage = false
    #expect(try await browser.post("logout").status == 403)
    browser.isOwnPage = true
    #expect(try await browser.get("api/materials").status == 200)
    await server.stop()
  }
}

@Suite("Sessions by account", .timeLimit(.minutes(1)))
struct AccountsTests {
  @Test("idle sessions are closed, and no more than the maximum are open at once")
  func bounded() async throws {
    let bench = try FrontendBench()
    let accounts = Accounts(
      in: bench.folder, maximum: 2, idle: .milliseconds(200), logger: Logger(label: "test"),
      configuration: bench.configuration)
    let user = LoopbackUser.sample
    for key in ["a", "b", "c", "d"] {
      try await accounts.withSession(of: key) { session in
        try await session.login(.password(user.email, user.password))
      }
      #expect(await accounts.openCount <= 2)
    }
    // All places are in use.
    await #expect(throws: Accounts.Problem.self) {
      try await accounts.withSession(of: "a") { _ in
        try await accounts.withSession(of: "b") { _ in
          try await accounts.withSession(of: "c") { _ in }
        }
      }
    }
    // A session that was closed goes on after it is opened again.
    for key in ["a", "b", "c", "d"] {
      #expect(try await accounts.withSession(of: key) { $0.isAuthenticated })
    }
    let running = Task { try await accounts.run() }
    while await accounts.openCount > 0 { try await Task.sleep(for: .milliseconds(50)) }
    running.cancel()
    try await running.value
    await #expect(throws: Accounts.Problem.self) {
      try await accounts.withSession(of: "a") { _ in }
    }
  }
}
