import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import SessionTestSupport
import SessionWebSignIn
import Synchronization
import Testing

/// A login with an identity SDK: every step, and every way in which each can end.
@Suite("A session: logging in with an identity provider")
struct SessionWebSignInTests {
  private let bench: Bench
  private let fake = FakeIdentity()
  private var provider: FakeProvider { FakeProvider(fake: fake) }
  private var view: FakeView { FakeView(fake: fake) }

  init() throws { bench = try Bench() }

  private static let all = [
    "warmUp", "acquireSilently", "makeView", "observe", "present", "signIn", "dismiss",
  ]

  private func open(owned: Bool = false) async throws -> Session {
    var configuration = bench.configuration()
    configuration.http = AppPreset.b2c(bench.server.baseURL, clientID: "c", scope: "s").backend
    if owned { configuration.identityProvider = provider }
    return try await Session.open(configuration)
  }

  private func method() throws -> LoginMethod? {
    for record in try bench.records() {
      if case .event(.login(let login)) = record.content { return login.method }
    }
    return nil
  }

  @Test(
    "WEB-1 WEB-5 LOG-5 STA-3 a login takes its steps in order and journals one event")
  func interactive() async throws {
    let session = try await open()
    fake.script("acquireSilently", .fail(FakeIdentity.Failed()))
    let shown = Mutex<[SessionActivity]>([])
    fake.onStep { _ in shown.withLock { $0.append(session.activity) } }
    let user = try await session.login(.provider(provider, in: view)).user
    #expect(fake.log == Self.all)
    #expect(shown.withLock { $0 } == Array(repeating: .authenticating, count: 7))
    #expect(user?.id == "o-1" && user?.email == "ana@school.test")
    #expect(session.isAuthenticated && session.activity == .idle && session.canRefreshToken)
    #expect(session.currentToken?.secret == Secret("access-SECRET-1"))
    #expect(try method() == .interactive && bench.eventNames() == ["login"])
    #expect(fake.observer?.isStopped == true)
    try await session.close()
  }

  @Test("WEB-5 LOG-5 a login shows no page if the provider knows the account")
  func silent() async throws {
    let session = try await open()
    try await session.login(.provider(provider, in: view))
    #expect(fake.log == ["warmUp", "acquireSilently"])
    #expect(try method() == .silent)
    try await session.close()
  }

  @Test(
    "WEB-5 STA-3 if a step fails, the view is dismissed and the session shows failed",
    arguments: all)
  func eachStepFails(step: String) async throws {
    let session = try await open()
    fake.script("acquireSilently", .fail(FakeIdentity.Failed()))
    if step != "dismiss" { fake.script(step, .fail(FakeIdentity.Failed())) }
    guard step != "acquireSilently", step != "dismiss" else {
      try await session.login(.provider(provider, in: view))
      try await session.close()
      return
    }
    let error = await failure { () async throws(SessionError) in
      try await session.login(.provider(provider, in: view))
    }
    let problem: WebSignInProblem =
      ["makeView", "observe", "present"].contains(step) ? .viewFailed : .refused(nil)
    #expect(error.isExactly(.webSignIn(problem)))
    #expect(session.activity == .failed && session.status.loginError == .webSignIn(problem))
    let isMade = ["observe", "present", "signIn"].contains(step)
    #expect(fake.log.filter { $0 == "dismiss" }.count == (isMade ? 1 : 0))
    #expect(fake.observer?.isStopped ?? true)
    #expect(try bench.eventNames().isEmpty && bench.files().isEmpty)
    await session.clearError()
    #expect(session.activity == .idle)
    // Nothing prevents the next login.
    fake.script(step, .work)
    try await session.login(.provider(provider, in: view))
    #expect(session.isAuthenticated)
    try await session.close()
  }

  @Test(
    "WEB-5 STA-3 a login that is cancelled at any step dismisses the view before it throws",
    arguments: all, [true, false])
  func cancelled(step: String, heeds: Bool) async throws {
    let session = try await open()
    if step != "acquireSilently" {
      fake.script("acquireSilently", .fail(FakeIdentity.Failed()))
    }
    fake.script(step, heeds ? .wait : .waitAndIgnore)
    let (provider, view) = (provider, view)
    let task = Task {
      await failure { () async throws(SessionError) in
        try await session.login(.provider(provider, in: view))
      }
    }
    await eventually("\(step) begins") { fake.isWaiting(step) }
    task.cancel()
    // The login waits for a step of the view, and not for one of the provider.
    let isOfView = ["makeView", "observe", "present", "dismiss"].contains(step)
    // A dismissal is not cut short.
    if !heeds && isOfView || step == "dismiss" {
      await eventually("nobody signs in any more") { session.activity == .idle }
      fake.letGo(step)
    }
    #expect(await task.value == .cancelled)
    let log = fake.log
    #expect(log.contains("dismiss") == log.contains("observe") || step == "makeView" && !heeds)
    if step == "makeView" { #expect(log.contains("dismiss") == !heeds) }
    #expect(fake.observer?.isStopped ?? true)
    #expect(session.activity == .idle && !session.isAuthenticated)
    if !heeds { fake.letGo(step) }
    try await session.close()
    #expect(try bench.eventNames().isEmpty && bench.files().isEmpty)
  }

  @Test(
    "WEB-5 a view that never reports its dismissal is waited for up to the page's limit"
  )
  func stuckView() async throws {
    let limit = WebSignIn.dismissLimit.milliseconds(atLeast: 0)
    #expect(
      SpecPage("WebSignIn.md").rows(["what is waited for", "milliseconds"]) == [
        ["dismiss", "\(limit)"]
      ])
    let session = try await open()
    fake.script("acquireSilently", .fail(FakeIdentity.Failed()))
    fake.script("dismiss", .waitAndIgnore)
    let (provider, view) = (provider, view)
    let task = Task { try await session.login(.provider(provider, in: view)) }
    await eventually("the view goes, and does not say so") { fake.isWaiting("dismiss") }
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .milliseconds(limit - 1))
    #expect(session.activity == .authenticating && !session.isAuthenticated)
    bench.clock.advance(by: .milliseconds(1))
    #expect(try await task.value.user?.id == "o-1")
    try await session.logout()
    // The next login makes its own view. The late dismissal of the first one changes nothing.
    fake.script("dismiss", .work)
    #expect(try await session.login(.provider(provider, in: view)).user?.id == "o-1")
    fake.letGo("dismiss")
    #expect(session.isAuthenticated && fake.log.filter { $0 == "dismiss" }.count == 2)
    try await session.close()
    #expect(try bench.eventNames() == ["login", "logout", "login"])
  }

  @Test("WEB-5 the provider gets a redirect from outside only while it waits for one")
  func redirected() async throws {
    let session = try await open()
    let url = try #require(URL(string: "app://auth?code=x"))
    #expect(await session.handle(url) == false)
    fake.script("acquireSilently", .fail(FakeIdentity.Failed()))
    fake.script("signIn", .wait)
    let (provider, view) = (provider, view)
    let task = Task { try await session.login(.provider(provider, in: view)) }
    await eventually("the page is shown") { fake.isWaiting("signIn") }
    #expect(await session.handle(url))
    #expect(fake.log.last == "handle")
    fake.letGo("signIn")
    _ = try await task.value
    #expect(await session.handle(url) == false)
    try await session.close()
  }

  @Test("WEB-5 LOG-4 tokens that are unreadable or name no user log in no user")
  func unreadable() async throws {
    let session = try await open()
    for tokens in [
      IdentityTokens(access: Secret("opaque"), lifetime: .seconds(1)),
      IdentityTokens(access: Secret("two words"), identity: FakeIdentity.idToken(#"{"oid":"o"}"#)),
      IdentityTokens(access: Secret("t"), identity: FakeIdentity.idToken(#"{"oid":"a@b.test"}"#)),
    ] {
      fake.give(tokens)
      let error = await failure { () async throws(SessionError) in
        try await session.login(.provider(provider, in: view))
      }
      #expect(error.isExactly(.webSignIn(.unreadableTokens)))
    }
    #expect(try bench.files().isEmpty && bench.eventNames().isEmpty)
    try await session.close()
  }

  @Test("STO-3 WEB-2 no description shows tokens, addresses or texts of the provider")
  func redacted() async throws {
    let tokens = FakeIdentity.tokens(7)
    let observer = RedirectObserver()
    observer.see("app://auth?error=ana@school.test&error_description=Ana+SECRET&code=SECRET")
    let session = try await open()
    fake.script("acquireSilently", .fail(FakeIdentity.Failed()))
    fake.script(
      "signIn",
      .fail(NSError(domain: "x", code: 1, userInfo: ["error": "SECRET ana@school.test"])))
    let error = await failure { () async throws(SessionError) in
      try await session.login(.provider(provider, in: view))
    }
    var texts = ["\(tokens)", "\(observer)", "\(String(describing: error))", "\(session.activity)"]
    texts += [String(reflecting: tokens), String(reflecting: observer), "\(session.status)"]
    var dumped = ""
    dump(tokens, to: &dumped)
    for text in texts + [dumped] {
      #expect(!text.contains("SECRET") && !text.contains("ana@"), "\(text)")
    }
    #expect(observer.lastError == .refused(nil) && error.isExactly(.webSignIn(.refused(nil))))
    try await session.close()
  }

  // MARK: The provider owns the tokens

  @Test("WEB-6 a refresh acquires tokens silently, and no refresh token is stored")
  func ownedRefresh() async throws {
    let session = try await open(owned: true)
    try await session.login(.provider(provider, in: view))
    #expect(session.canRefreshToken)
    fake.give(FakeIdentity.tokens(2))
    let token = try await session.refresh()
    #expect(token.secret == Secret("access-SECRET-2"))
    #expect(fake.accounts == [nil, "o-1"])
    #expect(try bench.eventNames() == ["login", "refreshSucceeded"])
    #expect(bench.server.calls.isEmpty)
    try await session.close()
    for file in try bench.files() {
      let text = try String(contentsOfFile: bench.secrets + "/" + file, encoding: .utf8)
      #expect(!text.contains("refresh-SECRET"))
    }
    // The session also refreshes after a restart.
    let again = try await open(owned: true)
    #expect(again.isAuthenticated && again.canRefreshToken)
    fake.give(FakeIdentity.tokens(3))
    #expect(try await again.refresh().secret == Secret("access-SECRET-3"))
    try await again.close()
  }

  @Test(
    "WEB-6 REF-6 each error of the provider is journaled as in Specs/WebSignIn.md",
    arguments: SpecPage("WebSignIn.md").rows(["the provider says", "the refresh has failed as"]))
  func ownedFailure(row: [String]) async throws {
    let named: [String: any Error] = [
      "noAccount": WebSignInProblem.noAccount, "unreachable": WebSignInProblem.unreachable,
      "unreadableTokens": WebSignInProblem.unreadableTokens, "nothing": FakeIdentity.Failed(),
      "a request with 503": BackendError(.serverFailure, status: 503),
    ]
    let code = row[0].hasPrefix("refused ") ? IdentityCode(String(row[0].dropFirst(8))) : nil
    let said = named[row[0]] ?? WebSignInProblem.refused(code)
    let session = try await open(owned: true)
    try await session.login(.provider(provider, in: view))
    fake.script("acquireSilently", .fail(said))
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    let failures = try bench.records().compactMap { record -> String? in
      guard case .event(.refreshFailed(let failed)) = record.content else { return nil }
      return failed.failure.description
    }
    #expect(failures.first == row[1])
    try await session.close()
  }

  @Test("WEB-6 OUT-1 a logout removes the provider's account, and the next opening retries it")
  func ownedLogout() async throws {
    let session = try await open(owned: true)
    try await session.login(.provider(provider, in: view))
    fake.script("removeAccount o-1", .fail(URLError(.timedOut)))
    #expect(try await session.logout() == .partial(.serverNotTold(status: nil)))
    #expect(!session.isAuthenticated)
    try await session.close()
    fake.script("removeAccount o-1", .work)
    let again = try await open(owned: true)
    await eventually("the provider is told") {
      fake.log.filter { $0 == "removeAccount o-1" }.count == 2
    }
    try await eventually("that is noted") { try bench.files().isEmpty }
    try await again.close()
  }

  @Test(
    "WEB-6 OUT-1 the account is kept if its user has logged in again since the logout")
  func sameUserAgain() async throws {
    let session = try await open(owned: true)
    try await session.login(.provider(provider, in: view))
    fake.script("removeAccount o-1", .fail(URLError(.timedOut)))
    #expect(try await session.logout() == .partial(.serverNotTold(status: nil)))
    try await session.login(.provider(provider, in: view))
    try await session.close()
    fake.script("removeAccount o-1", .work)
    let again = try await open(owned: true)
    try await eventually("it is settled") {
      try bench.records().contains { record in
        guard case .note(.revocationSettled(let settled)) = record.content else { return false }
        return settled.outcome == .abandoned
      }
    }
    #expect(fake.log.filter { $0 == "removeAccount o-1" }.count == 1)
    #expect(again.isAuthenticated)
    try await again.close()
  }

  @Test("WEB-5 WEB-6 an account that arrives after the login was cancelled is removed")
  func unwanted() async throws {
    let session = try await open(owned: true)
    fake.script("acquireSilently", .fail(FakeIdentity.Failed()))
    fake.script("signIn", .waitAndIgnore)
    let (provider, view) = (provider, view)
    let task = Task {
      await failure { () async throws(SessionError) in
        try await session.login(.provider(provider, in: view))
      }
    }
    await eventually("the page is shown") { fake.isWaiting("signIn") }
    task.cancel()
    #expect(await task.value == .cancelled)
    #expect(!fake.log.contains { $0.hasPrefix("removeAccount") })
    fake.letGo("signIn")
    await eventually("it is removed") { fake.log.contains("removeAccount o-1") }
    try await session.close()
  }

  @Test(
    "WEB-6 OUT-1 a refresh ends with no reply if the provider does not answer")
  func ownedBounds() async throws {
    let session = try await open(owned: true)
    try await session.login(.provider(provider, in: view))
    fake.script("acquireSilently", .waitAndIgnore)
    let refresh = Task {
      await failure { () async throws(SessionError) in try await session.refresh() }
    }
    await eventually("the refresh begins") { fake.isWaiting("acquireSilently") }
    fake.script("acquireSilently", .fail(URLError(.notConnectedToInternet)))
    bench.clock.advance(by: .seconds(60))
    #expect(await refresh.value != nil)
    let first = try bench.records().lazy.compactMap { record -> RequestFailure? in
      guard case .event(.refreshFailed(let failed)) = record.content else { return nil }
      return failed.failure
    }.first
    #expect(first?.kind == .noReply)
    #expect(session.isAuthenticated)
    fake.letGo("acquireSilently")
    try await session.close()
  }
}
