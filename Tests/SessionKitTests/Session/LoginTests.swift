import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@Suite("A session: login")
struct LoginTests {
  @Test("LOG-4 STA-4 a login sets the state, stores three private items and journals one event")
  func login() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    #expect(!session.isAuthenticated)
    #expect(session.activity == .idle)
    let user = try await session.login(bench.credentials).user

    #expect(user?.email == LoopbackUser.sample.email)
    #expect(session.isAuthenticated)
    #expect(session.currentUser?.id == Identifier(LoopbackUser.sample.id))
    #expect(session.currentToken?.generation == Generation(1))
    #expect(session.activeContext?.role.name == LoopbackContext.teacher.roleName)
    #expect(session.currentUserRole?.id == Identifier(LoopbackContext.teacher.roleID))
    #expect(session.isPermitted("materials:read"))
    #expect(!session.isPermitted("nothing:at-all"))
    #expect(session.currentPermissions == LoopbackContext.teacher.permissions.sorted())
    #expect(!session.isTokenExpired)
    #expect(session.canRefreshToken)
    #expect(try bench.eventNames() == ["login"])
    #expect(try bench.files() == ["context", "token", "user"])
    for name in try bench.files() {
      let mode = try FileManager.default.attributesOfItem(atPath: bench.secrets + "/" + name)[
        .posixPermissions]
      #expect(mode as? Int == 0o600)
    }
    try await session.close()
  }

  @Test("LOG-1 invalid credentials are refused before a request is sent")
  func validation() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    for (name, password, problem) in [
      ("", "long enough", CredentialRules.Problem.emptyUserName),
      ("ada.example.org", "long enough", .notAnEmail), ("ada@example", "long enough", .notAnEmail),
      ("ada@example.org", "", .emptyPassword),
      ("ada@example.org", "short", .passwordTooShort(minimumLength: 8)),
    ] {
      let error = await failure { () async throws(SessionError) in
        try await session.login(.password(name, password))
      }
      #expect(error.failure == .invalidCredential(problem))
    }
    #expect(bench.server.calls.isEmpty)
    try await session.close()
  }

  @Test("LOG-3 LOG-4 each refusal by the server has its own error, and stores nothing")
  func refusals() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    for (status, expected) in [
      (400, SessionError.invalidRequest(code: nil)), (401, .invalidCredentials(code: nil)),
      (403, .forbidden(code: nil)), (404, .notFound), (409, .conflict(code: nil)),
      (423, .accountLocked), (429, .rateLimited(retryAfter: nil)),
      (500, .server(status: 500, code: nil)), (503, .server(status: 503, code: nil)),
      (418, .unexpectedStatus(418)),
    ] {
      bench.server.failNext(.login, with: .status(status))
      let error = await failure { () async throws(SessionError) in
        try await session.login(bench.credentials)
      }
      #expect(error?.kindOfAnswer == expected.kindOfAnswer)
      #expect(!session.isAuthenticated)
      guard case .failed = session.activity else {
        Issue.record("activity is \(session.activity)")
        return
      }
    }
    await session.clearError()
    #expect(session.activity == .idle)
    #expect(try bench.eventNames().isEmpty)
    #expect(try bench.files().isEmpty)
    try await session.close()
  }

  static let unreadable: [(LoopbackFault, String)] = [
    (.brokenJSON, "broken JSON"), (.malformedToken, "a token of two parts"),
    (.expiresIn(0), "expires_in 0"), (.expiresIn(-5), "a negative expires_in"),
    (.expiresIn("soon"), "a text as expires_in"),
  ]

  @Test("LOG-3 an unreadable 200 response is a typed error with the problem, and changes nothing")
  func unreadable() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    for (fault, name) in Self.unreadable {
      bench.server.failNext(.login, with: fault)
      let error = await failure { () async throws(SessionError) in
        try await session.login(bench.credentials)
      }
      guard case .unreadableAnswer(let problem) = error.failure else {
        Issue.record("\(name): \(String(describing: error))")
        continue
      }
      #expect(!problem.isEmpty)
      #expect(session.state == .unauthenticated)
    }
    #expect(try bench.files().isEmpty)
    #expect(try bench.eventNames().isEmpty)
    try await session.close()
  }

  @Test("LOG-3 a missing server and a dropped connection are network errors with their cause")
  func network() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    bench.server.failNext(.login, with: .dropConnection(.beforeActing))
    let dropped = await failure { () async throws(SessionError) in
      try await session.login(bench.credentials)
    }
    guard case .noReply = dropped.failure else {
      Issue.record("\(String(describing: dropped))")
      return
    }
    bench.server.stop()
    let refused = await failure { () async throws(SessionError) in
      try await session.login(bench.credentials)
    }
    guard case .noConnection = refused.failure else {
      Issue.record("\(String(describing: refused))")
      return
    }
    #expect(session.state == .unauthenticated)
    try await session.close()
  }

  @Test("LOG-10 a second login is refused before the network")
  func twice() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let error = await failure { () async throws(SessionError) in
      try await session.login(bench.credentials)
    }
    #expect(error == .alreadySignedIn)
    #expect(bench.server.count(of: .login) == 1)
    try await session.close()
  }

  @Test("a cancelled login logs in no user, and its late tokens are revoked")
  func cancelled() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    let gate = bench.server.hold(.login)
    let task = Task { try await session.login(bench.credentials) }
    #expect(await bench.server.received(.login))
    task.cancel()
    await #expect(throws: SessionError.cancelled) { try await task.value }
    gate.open()
    #expect(await bench.server.answered(.logout))
    #expect(session.state == .unauthenticated)
    #expect(try bench.eventNames().isEmpty)
    #expect(try bench.files().isEmpty)
    try await session.close()
  }
}

extension SessionError {
  /// The error, without the server's details.
  fileprivate var kindOfAnswer: String {
    "\(failure.name) \(code) \(status ?? 0)"
  }
}
