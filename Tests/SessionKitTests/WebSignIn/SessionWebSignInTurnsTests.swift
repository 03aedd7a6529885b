import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import SessionTestSupport
import SessionWebSignIn
import Synchronization
import Testing

/// Which logins show no page, how long a provider is waited for, and what one login leaves to the
/// next.
@Suite("A session: who sees a login page, and when")
struct SessionWebSignInTurnsTests {
  private let bench: Bench
  private let fake = FakeIdentity()
  private var provider: FakeProvider { FakeProvider(fake: fake) }
  private var view: FakeView { FakeView(fake: fake) }

  init() throws { bench = try Bench() }

  private func open(owned: Bool = true, _ policy: SessionPolicy = .keeping) async throws -> Session
  {
    var configuration = bench.configuration(policy)
    configuration.http = AppPreset.b2c(bench.server.baseURL, clientID: "c", scope: "s").backend
    if owned { configuration.identityProvider = provider }
    return try await Session.open(configuration)
  }

  private func tap(_ session: Session, _ fake: FakeIdentity? = nil) -> Task<SessionError?, Never> {
    let (provider, view) = (provider, FakeView(fake: fake ?? self.fake))
    return Task {
      do throws(SessionError) {
        try await session.login(.provider(provider, in: view))
        return nil
      } catch {
        return error
      }
    }
  }

  /// Logged in as `o-1`, and then expired because the provider no longer has an account.
  private func expired() async throws -> Session {
    let session = try await open()
    try await session.login(.provider(provider, in: view))
    fake.script("acquireSilently", .fail(WebSignInProblem.noAccount))
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(session.state.kind == .expired)
    fake.script("acquireSilently", .work)
    return session
  }

  @Test(
    "WEB-5 STA-6 an expired session asks for its own user, and shows a page for another's tokens")
  func ofExpired() async throws {
    let session = try await expired()
    fake.give(FakeIdentity.tokens(2, user: "o-2"))
    let silent = await failure { () async throws(SessionError) in
      try await session.login(.silently(with: provider))
    }
    #expect(silent.isExactly(.webSignIn(.noAccount)) && !fake.log.contains("signIn"))
    fake.giveOnPage(FakeIdentity.tokens(3))
    try await session.login(.provider(provider, in: view))
    #expect(session.isAuthenticated && fake.prompts == [.always])
    #expect(fake.accounts == [nil, "o-1", "o-1", "o-1"])
    try await session.close()
  }

  @Test(
    "WEB-5 WEB-6 OUT-1 after a logout that was not confirmed, a login needs a page"
  )
  func loggedOut() async throws {
    let session = try await open()
    try await session.login(.provider(provider, in: view))
    fake.script("removeAccount o-1", .fail(URLError(.timedOut)))
    #expect(try await session.logout() == .partial(.serverNotTold(status: nil)))
    let silent = await failure { () async throws(SessionError) in
      try await session.login(.silently(with: provider))
    }
    #expect(silent.isExactly(.webSignIn(.noAccount)))
    fake.giveOnPage(FakeIdentity.tokens(2, user: "o-2"))
    #expect(try await session.login(.provider(provider, in: view)).user?.id == "o-2")
    #expect(fake.prompts == [.always])
    try await session.close()
  }

  @Test(
    "WEB-5 the page appears after the request's time if the provider does not answer",
    arguments: ["warmUp", "acquireSilently"])
  func late(step: String) async throws {
    let session = try await open()
    fake.script(step, .waitAndIgnore)
    let shown = tap(session)
    await eventually("it does not answer") { fake.isWaiting(step) }
    await eventually("the page comes") {
      bench.clock.advance(by: .seconds(60))
      return session.isAuthenticated
    }
    #expect(await shown.value == nil)
    #expect(fake.log.contains("signIn"))
    fake.letGo(step)
    try await session.close()
  }

  @Test(
    "WEB-5 a third login waits for the view of the first one, although the second was cancelled")
  func thirdTap() async throws {
    let session = try await open()
    fake.script("acquireSilently", .fail(FakeIdentity.Failed()))
    fake.script("signIn", .wait)
    fake.script("dismiss", .waitAndIgnore)
    let first = tap(session)
    await eventually("the page is shown") { fake.isWaiting("signIn") }
    first.cancel()
    await eventually("it goes") { fake.isWaiting("dismiss") && session.activity == .idle }
    let others = FakeIdentity()
    let second = tap(session, others)
    await eventually("the second waits") { session.activity == .authenticating }
    second.cancel()
    #expect(await second.value == .cancelled)
    await eventually("nobody signs in") { session.activity == .idle }
    let third = tap(session, others)
    await eventually("the third waits") { session.activity == .authenticating }
    for _ in 0..<200 { await Task.yield() }
    #expect(others.log.isEmpty && fake.log.filter { $0 == "warmUp" }.count == 1)
    fake.script("dismiss", .work)
    fake.script("signIn", .work)
    fake.letGo("dismiss")
    #expect(await third.value == nil && others.log.first == "makeView")
    #expect(await first.value == .cancelled)
    try await session.close()
  }

  @Test(
    "WEB-5 the next login waits up to the limit for a provider whose page was cancelled"
  )
  func stillAtPage() async throws {
    let session = try await open()
    fake.script("acquireSilently", .fail(FakeIdentity.Failed()))
    fake.script("signIn", .waitAndIgnore)
    let first = tap(session)
    await eventually("the page is shown") { fake.isWaiting("signIn") }
    first.cancel()
    #expect(await first.value == .cancelled)
    fake.script("signIn", .work)
    let second = tap(session)
    await eventually("the second waits") { session.activity == .authenticating }
    for _ in 0..<200 { await Task.yield() }
    #expect(fake.log.filter { $0 == "warmUp" }.count == 1)
    await eventually("but not for ever") {
      bench.clock.advance(by: WebSignIn.dismissLimit)
      return session.isAuthenticated
    }
    #expect(await second.value == nil)
    fake.letGo("signIn")
    try await session.close()
  }

  @Test(
    "WEB-4 WEB-5 a login reports only the error of an address that the provider takes"
  )
  func foreign() async throws {
    let session = try await open()
    let url = try #require(URL(string: "shop://order?error=access_denied"))
    fake.script("acquireSilently", .fail(FakeIdentity.Failed()))
    for (act, problem) in [
      (FakeIdentity.Act.fail(FakeIdentity.Failed()), WebSignInProblem.cancelledByUser),
      (.work, .refused(IdentityCode("access_denied"))),
    ] {
      fake.script("signIn", .wait)
      fake.script("handle", act)
      let task = tap(session)
      await eventually("the page is shown") { fake.isWaiting("signIn") }
      let isTaken = await session.handle(url)
      #expect(isTaken == (problem != .cancelledByUser))
      fake.failing("signIn", with: WebSignInProblem.cancelledByUser)
      #expect(await task.value.isExactly(.webSignIn(problem)))
    }
    fake.script("signIn", .wait)
    fake.script("handle", .waitAndIgnore)
    let task = tap(session)
    await eventually("the page is shown") { fake.isWaiting("signIn") }
    let answer = Mutex<Bool?>(nil)
    let handing = Task {
      let isTaken = await session.handle(url)
      answer.withLock { $0 = isTaken }
    }
    await eventually("it is answered") {
      bench.clock.advance(by: .seconds(60))
      return answer.withLock { $0 } == false
    }
    await handing.value
    fake.letGo("handle")
    fake.letGo("signIn")
    #expect(await task.value == nil)
    try await session.close()
  }

  @Test("WEB-4 a login throws the error in `lastError`, from any number of threads")
  func oneOrder() async throws {
    let session = try await open()
    fake.script("acquireSilently", .fail(FakeIdentity.Failed()))
    fake.script("signIn", .wait)
    for _ in 0..<20 {
      let task = tap(session)
      await eventually("the page is shown") { fake.isWaiting("signIn") }
      let observer = try #require(fake.observer)
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<8 {
          group.addTask { observer.see("app://b?error=AADB2C9900\(number)") }
        }
      }
      fake.failing("signIn", with: WebSignInProblem.cancelledByUser)
      #expect(await task.value == observer.lastError.map(SessionError.webSignIn))
    }
    try await session.close()
  }

  @Test("WEB-6 REF-6 a refusal by the provider is reported as the provider's, with its code")
  func refused() async throws {
    let session = try await open()
    try await session.login(.provider(provider, in: view))
    let problem = WebSignInProblem.refused(IdentityCode("AADB2C90999"))
    fake.script("acquireSilently", .fail(problem))
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error.isExactly(.webSignIn(problem)) && session.isAuthenticated)
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("identity provider") && text.contains("AADB2C90999"))
    #expect(!text.contains("status"))
    try await session.close()
  }

  /// An SDK that shows its own page.
  private struct OwnPage: IdentityProvider {
    func acquireSilently(_ account: Identifier?) async throws -> IdentityTokens {
      throw WebSignInProblem.noAccount
    }
    func login(in view: NoView, prompt: WebSignIn.Prompt) async throws -> IdentityTokens {
      FakeIdentity.tokens(1)
    }
    func removeAccount(_ account: Identifier) async throws {}
  }

  @Test("WEB-1 WEB-5 an SDK that shows its own page needs no view")
  func noView() async throws {
    let session = try await open(owned: false)
    try await session.login(.provider(OwnPage(), in: NoView(), prompt: .always))
    #expect(session.currentUser?.id == "o-1")
    try await session.close()
  }
}
