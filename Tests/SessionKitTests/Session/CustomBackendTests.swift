import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import SessionTestSupport
import Testing

@testable import SessionHTTP
@testable import SessionKit

/// Whole sessions with a backend without HTTP (`ServerInProcess`).
@Suite("A session with the app's own backend")
struct CustomBackendTests {
  private static let credentials = Credential.password("ana@school.test", "correct-horse-9")

  private let bench: Bench
  private let server = ServerInProcess()

  init() throws { bench = try Bench() }

  private func configuration(
    _ backend: any AuthBackend, _ policy: SessionPolicy = .unasked
  ) -> SessionConfiguration {
    var configuration = bench.configuration(policy)
    configuration.backend = backend
    return configuration
  }

  private func signedIn(_ policy: SessionPolicy = .unasked) async throws -> Session {
    let session = try await Session.open(configuration(server, policy))
    try await session.login(Self.credentials)
    return session
  }

  private func failures() throws -> [RequestFailure] {
    try bench.records().compactMap { record in
      guard case .refreshFailed(let failed) = record.event else { return nil }
      return failed.failure
    }
  }

  @Test(
    "REF-7 a refresh that is repeated after a lost response works with each kind of grace",
    arguments: ServerInProcess.Grace.allCases)
  func grace(_ grace: ServerInProcess.Grace) async throws {
    await server.set(grace)
    let session = try await signedIn()
    await server.next(.loses)
    #expect(try await session.refresh().generation == Generation(2))
    try await session.refresh()
    #expect(session.isAuthenticated && session.currentToken?.generation == Generation(3))
    let last = grace == .samePair ? "refresh-2" : "refresh-3"
    #expect(
      await server.requests == ["login"]
        + ["refresh-1", "refresh-1", last].map { "refresh \($0)" })
    try await session.close()
  }

  @Test("POL-4 LOG-3 REF-5 CTX-1 LOG-6 OUT-1 a session works with an app's own backend")
  func whole() async throws {
    let session = try await signedIn()
    #expect(session.currentUser?.id == "u-1" && session.activeContext?.role.id == "teacher")
    try await session.refresh()
    #expect(session.currentToken?.secret == Secret("access-2"))
    let context = try #require(await server.context)
    #expect(context.access == Secret("access-1") && context.user == "u-1")
    #expect(context.lifetimeBefore == .seconds(3_600) && context.timeout == .seconds(60))
    #expect(context.now == bench.clock.now().time)
    #expect(await context.mayBeSent() == false, "the request has ended")
    try await session.switchContext(to: ContextTarget(role: "head"))
    #expect(session.activeContext?.role.id == "head")
    #expect(try await session.checkAccountStatus() == .active)
    #expect(session.currentUser?.firstName == "Ana")
    try await session.close()

    let again = try await Session.open(configuration(server))
    #expect(again.isAuthenticated)
    #expect(try await again.logout() == .success)
    try await again.close()
    #expect(
      await server.requests == [
        "login", "refresh refresh-1", "switch access-2", "profile access-3", "revoke access-3",
        "sign out",
      ])
    #expect(
      try bench.eventNames() == ["login", "refreshSucceeded", "contextSwitched", "logout"])
    let journal = try Data(contentsOf: URL(fileURLWithPath: bench.journal))
    for secret in ["access-1", "refresh-1", "ana@school.test"] {
      #expect(journal.range(of: Data(secret.utf8)) == nil)
    }
  }

  @Test("REF-6 REF-7 after a lost response the request is repeated at once")
  func lost() async throws {
    let session = try await signedIn()
    await server.next(.loses)
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    // The server had acted on the first request, so the token was already used.
    #expect(session.state.kind == .expired)
    #expect(await server.requests.suffix(2) == ["refresh refresh-1", "refresh refresh-1"])
    try await session.close()
    let failures = try failures()
    #expect(failures.map(\.kind) == [.noReply, .rejected])
    #expect(failures.map(\.serverCode) == [nil, "renewal-reused"])
  }

  @Test("REF-9 a request is given up at its timeout if the backend does not answer")
  func hangs() async throws {
    var policy = SessionPolicy.unasked
    policy.refresh.timeout = .seconds(5)
    let session = try await signedIn(policy)
    await server.next(.hangs)
    _ = try await bench.clock.running { try await session.refresh() }
    #expect(session.currentToken?.secret == Secret("access-2"))
    #expect(try failures().map(\.kind) == [.noReply])
    try await session.close()
  }

  @Test("OUT-1 OUT-5 the next opening repeats what a revocation has not confirmed")
  func revocationLater() async throws {
    let session = try await signedIn()
    await server.failRevocations(.noResponse("the line is down", mayHaveActed: false))
    #expect(try await session.logout() == .partial(.serverNotTold(status: nil)))
    try await session.close()
    let again = try await Session.open(configuration(server))
    for _ in 0..<1_000 where await server.requests.count < 4 {
      bench.clock.advance(by: .seconds(1))
      try await Task.sleep(for: .milliseconds(2))
    }
    #expect(await server.requests == ["login", "revoke access-1", "sign out", "sign out"])
    try await again.close()
  }

  @Test(
    "LOG-3 LOG-5 a wrong password, a registration and an unsupported login have distinct results")
  func signIns() async throws {
    let session = try await Session.open(configuration(server))
    let wrong = await failure { () async throws(SessionError) in
      try await session.login(.password("ana@school.test", "wrong-horse-9"))
    }
    #expect(wrong == .invalidCredentials(code: nil, status: 0))
    #expect(
      try await session.login(.registration("ana@school.test", "correct-horse-9"))
        == .accountCreated)
    let social = await failure { () async throws(SessionError) in
      try await session.login(.provider("google", token: Secret("g-1")))
    }
    #expect(social == .notOffered("this server knows no other services"))
    #expect(session.state == .unauthenticated)
    try await session.close()
  }

  @Test("STO-3 LOG-12 an e-mail address as user id is refused, and another user ends the session")
  func users() async throws {
    let session = try await Session.open(configuration(server))
    let address = UserProfile(id: "ana@school.test")
    await server.next(
      .brings(TokenResponse(access: Secret("A"), lifetime: .seconds(60), user: address)))
    let error = await failure { () async throws(SessionError) in
      try await session.login(Self.credentials)
    }
    #expect(
      error
        == .unreadableAnswer(
          "the user's id is an e-mail address, which must not be journaled; use another id for the "
            + "user"))
    try await session.login(Self.credentials)
    await server.next(
      .brings(
        TokenResponse(
          access: Secret("B"), lifetime: .seconds(60), user: UserProfile(id: "u-2"))))
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(!session.isAuthenticated)
    try await session.close()
    #expect(try failures().last?.serverCode == NamingSource.reader.rawValue)
  }

  @Test("REF-7 tokens that cannot be sent are not stored")
  func tokens() async throws {
    let session = try await signedIn()
    await server.next(.brings(TokenResponse(access: Secret("a b"), lifetime: .seconds(60))))
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(
      error
        == .unreadableAnswer("a token is empty or contains a character that no token may contain"))
    #expect(session.currentToken?.secret == Secret("access-1"))
    try await session.close()
  }

  @Test("STO-6 the tokens of one backend are not sent to another one, named or unnamed")
  func identity() async throws {
    try await signedIn().close()
    for other in [BackendIdentity("other.accounts"), .unnamed] {
      let foreign = ServerInProcess(other)
      let error = await failure { () async throws(SessionError) in
        try await Session.open(configuration(foreign))
      }
      guard case .otherBackend? = error?.secretsError else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(await foreign.requests.isEmpty)
    }
    var moved = configuration(ServerInProcess(BackendIdentity("other.accounts")))
    moved.formerBackends = [BackendIdentity("test.accounts")]
    let session = try await Session.open(moved)
    #expect(session.isAuthenticated)
    try await session.close()
  }

  @Test("INT-5 calls carry the token only to the origins that the app names")
  func calls() throws {
    let url = try #require(URL(string: "https://api.school.test/v1/materials"))
    let head = CallHead(method: "GET", url: url, isAuthorized: false)
    var rules = CallRules()
    #expect(rules.target(head, server) == .plain)
    rules.origins = [try #require(URL(string: "https://api.school.test/v1"))]
    #expect(rules.target(head, server) == .own)
    rules.publicPaths = ["materials"]
    #expect(rules.target(head, server) == .plain)
  }

  @Test("POL-4 REF-5 OUT-1 a backend that forwards to an HTTP backend behaves like it")
  func decorated() async throws {
    let passing = PassingBackend(HTTPBackend.snakeCaseJSON(bench.server.baseURL))
    let head = CallHead(method: "GET", url: bench.server.baseURL, isAuthorized: false)
    #expect(CallRules().target(head, passing) == CallRules().target(head, passing.inner))
    let session = try await Session.open(configuration(passing))
    try await session.login(bench.credentials)
    try await session.refresh()
    #expect(try await session.logout() == .success)
    try await session.close()
    #expect(bench.server.count(of: .logout) == 1)
    #expect(try bench.eventNames() == ["login", "refreshSucceeded", "logout"])
  }

  @Test("REF-11 a request is not sent if another process logs out while it is prepared")
  func withdrawn() async throws {
    let other = try await bench.signedIn()
    var configuration = bench.configuration()
    configuration.http.prepare = { _, step in
      if step == .refresh { _ = try await other.logout() }
    }
    let session = try await Session.open(configuration)
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(session.state == .unauthenticated)
    #expect(bench.server.count(of: .refresh) == 0 && bench.server.count(of: .logout) == 1)
    try await session.close()
    try await other.close()
  }

  @Test("REF-6 each error of a backend states whether the server may have acted")
  func errors() {
    let rows: [(BackendError, RequestFailure.Kind, Bool)] = [
      (.noResponse("x", mayHaveActed: false), .noConnection, false),
      (.noResponse("x", mayHaveActed: true), .noReply, true),
      (BackendError(.noResponse), .noReply, true),
      (.unsupported("x"), .noConnection, false),
      (BackendError(.invalidAddress), .noConnection, false),
      (BackendError(.notTrusted), .noConnection, false),
      (BackendError(.rejected), .rejected, false),
      (BackendError(.refused), .unexpected, false), (BackendError(.serverFailure), .server, false),
      (BackendError(.rateLimited), .rateLimited, false),
      (BackendError(.userInactive), .userInactive, false),
      (BackendError(.userDeleted), .userDeleted, false),
      (BackendError(.intercepted), .intercepted, false),
      (BackendError(.invalidResponse), .unreadable, true),
    ]
    for (error, kind, mayHaveActed) in rows {
      let failure = error.failure(naming: [:])
      #expect(failure.kind == kind && error.mayHaveActed == mayHaveActed, "\(error)")
      // The conversion in both directions keeps everything.
      let again = BackendError(failure, message: error.message)
      #expect(again.failure(naming: [:]) == failure && again.mayHaveActed == mayHaveActed)
    }
    let waits = BackendError(.rateLimited, retryAfter: .nanoseconds(1_500_000_001))
    #expect(waits.failure(naming: [:]).retryAfterMilliseconds == 1_501)
    let coded = BackendError(.refused, serverCode: "odd.code")
    #expect(coded.failure(naming: [:]).serverCode == RequestFailure.codeNotKept)
    #expect(coded.failure(naming: ["odd.code": .tokenInvalid]).serverCode == "odd.code")
    #expect(!"\(coded)".contains("odd"))
  }
}

extension SessionPolicy {
  /// Expired sessions are kept, and the profile is requested only if the app asks.
  fileprivate static var unasked: SessionPolicy {
    var policy = SessionPolicy.keeping
    policy.limits.profileCheck = .whenUnknown
    return policy
  }
}

/// Forwards each request, as a decorator does.
private struct PassingBackend: AuthBackend {
  let inner: HTTPBackend

  init(_ inner: HTTPBackend) { self.inner = inner }

  var identity: BackendIdentity { inner.identity }
  var traits: BackendTraits { inner.traits }

  func login(
    _ credential: Credential, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse {
    try await inner.login(credential, in: context)
  }

  func refresh(
    _ token: RefreshToken, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse {
    try await inner.refresh(token, in: context)
  }

  func revoke(_ tokens: RevocableTokens, in context: RequestContext) async throws(BackendError) {
    try await inner.revoke(tokens, in: context)
  }
}
