import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionTestSupport
import SessionWebSignIn
import Testing

/// A real session with an identity provider on a real socket.
///
/// A client follows its pages, redirects, cookies and codes one by one.
@Suite("A login over real sockets")
struct IdentityServerTests {
  private static let ana = LoopbackIdentity.User(
    id: "o-1", name: "ana@school.test", password: "correct-horse-9")

  private let bench: Bench
  private let server: IdentityServer
  private let browser = HeadlessBrowser(URLSessionTransport())
  private let accounts = IdentityAccounts(keepsTokens: true, seed: 3)

  init() throws {
    bench = try Bench()
    server = try IdentityServer(LoopbackIdentity(users: [Self.ana]))
  }

  private func provider(_ responseMode: String? = nil) -> CodeFlowProvider<HeadlessPage> {
    let browser = browser
    return CodeFlowProvider(
      CodeGrant.Client(
        userFlow: server.userFlow, id: "app-1", scope: "openid offline_access",
        responseMode: responseMode),
      accounts: accounts, transport: URLSessionTransport()
    ) { try await browser.hidden($0, until: $1) }
  }

  private func open(owned: Bool = false) async throws -> Session {
    var configuration = bench.configuration()
    configuration.http =
      AppPreset.b2c(
        server.userFlow, clientID: "app-1", scope: "openid offline_access"
      ).backend
    if owned { configuration.identityProvider = provider() }
    return try await Session.open(configuration)
  }

  /// Logs in while a user performs these actions, one on each page.
  private func signIn(
    _ session: Session, _ responseMode: String? = nil, prompt: WebSignIn.Prompt = .ifNeeded,
    _ acts: [HeadlessPage.Act]
  ) async throws -> (page: HeadlessPage, ending: Result<UserProfile?, SessionError>) {
    let (page, provider) = (HeadlessPage(browser), provider(responseMode))
    let task = Task { () -> Result<UserProfile?, SessionError> in
      do throws(SessionError) {
        return .success(try await session.login(.provider(provider, in: page, prompt: prompt)).user)
      } catch {
        return .failure(error)
      }
    }
    for act in acts {
      await eventually("a page waits for the user") { page.isWaiting }
      #expect(session.activity == .authenticating && page.isShown)
      try page.act(act)
    }
    let ending = await task.value
    #expect(!page.isShown, "the view is gone before the caller is told")
    return (page, ending)
  }

  private static let right = HeadlessPage.Act.types(
    name: "ana@school.test", password: "correct-horse-9")

  private func error(_ ending: Result<UserProfile?, SessionError>) -> SessionError? {
    guard case .failure(let error) = ending else { return nil }
    return error
  }

  @Test(
    "WEB-1 WEB-5 LOG-5 a login redeems its code once, from the query or the fragment",
    arguments: [nil, "fragment"])
  func success(responseMode: String?) async throws {
    let session = try await open()
    let (page, ending) = try await signIn(session, responseMode, [Self.right])
    #expect(try ending.get()?.id == "o-1")
    #expect(session.isAuthenticated && session.currentUser?.email == "ana@school.test")
    let identity = server.identity
    let code = try #require(identity.codes.values.first)
    #expect(identity.codes.count == 1 && code.uses == 1 && code.user == Self.ana)
    #expect(!code.nonce.isEmpty && identity.violations.isEmpty && identity.wrongPasswords == 0)
    // The silent attempt, the page, the user's input, the provider's own callback, and the code.
    #expect(
      identity.log == [
        "GET /authorize", "GET /authorize", "POST /signin", "GET /confirmed", "POST /token",
      ])
    let places = page.visited.map { String($0.prefix { $0 != "?" && $0 != "#" }) }
    let flow = server.userFlow.absoluteString
    #expect(
      places == [
        "\(flow)/oauth2/v2.0/authorize", "\(flow)/signin", "\(flow)/confirmed", "app://auth",
      ])
    try await session.close()
    #expect(try bench.eventNames() == ["login"])
  }

  @Test(
    "WEB-2 WEB-4 STA-3 a user who leaves the page in any of three ways causes no failure",
    arguments: [
      (HeadlessPage.Act.leaves, WebSignInProblem.cancelledByUser),
      (.follows("cancel"), .cancelledByUser), (.follows("forgot"), .forgottenPassword),
    ])
  func left(act: HeadlessPage.Act, problem: WebSignInProblem) async throws {
    let session = try await open()
    let (page, ending) = try await signIn(session, nil, [act])
    #expect(error(ending).isExactly(.webSignIn(problem)))
    #expect(session.activity == .idle && !session.isAuthenticated)
    #expect(server.identity.codes.isEmpty && server.identity.violations.isEmpty)
    #expect(page.visited.last?.hasPrefix("app://auth?error=access_denied") == (act != .leaves))
    // Nothing prevents the next login.
    #expect(try await signIn(session, nil, [Self.right]).ending.get()?.id == "o-1")
    try await session.close()
    #expect(try bench.eventNames() == ["login"])
  }

  @Test("LOG-5 WEB-5 a silent login succeeds with the provider's cookie, and fails without it")
  func silent() async throws {
    let session = try await open()
    let provider = provider()
    let nobody = await failure { () async throws(SessionError) in
      try await session.login(.silently(with: provider))
    }
    #expect(nobody.isExactly(.webSignIn(.noAccount)) && session.activity == .idle)
    #expect(try await signIn(session, nil, [Self.right]).ending.get()?.id == "o-1")
    #expect(browser.cookieNames(of: "127.0.0.1") == [LoopbackIdentity.cookie])
    try await session.logout()
    // Another SDK on the same browser has no accounts, so only the cookie can name the user.
    let other = CodeFlowProvider<HeadlessPage>(
      CodeGrant.Client(userFlow: server.userFlow, id: "app-1", scope: "openid"),
      accounts: IdentityAccounts(keepsTokens: false, seed: 9), transport: URLSessionTransport()
    ) { [browser] in try await browser.hidden($0, until: $1) }
    #expect(try await session.login(.silently(with: other)).user?.id == "o-1")
    #expect(server.identity.codes.values.allSatisfy { $0.uses == 1 })
    #expect(server.identity.violations.isEmpty)
    try await session.close()
  }

  @Test("WEB-6 OUT-1 the SDK refreshes its tokens, and a logout ends the provider's session")
  func owned() async throws {
    let session = try await open(owned: true)
    _ = try await signIn(session, nil, [Self.right])
    let first = try #require(session.currentToken)
    let second = try await session.refresh()
    #expect(first.secret != second.secret && server.identity.refreshTokens.count == 1)
    #expect(try await session.logout() == .success)
    let identity = server.identity
    #expect(identity.sessions.isEmpty && identity.refreshTokens.isEmpty)
    #expect(browser.cookieNames(of: "127.0.0.1").isEmpty && accounts.known.isEmpty)
    #expect(identity.log.suffix(2) == ["POST /token", "GET /logout"])
    let provider = provider()
    let nobody = await failure { () async throws(SessionError) in
      try await session.login(.silently(with: provider))
    }
    #expect(nobody.isExactly(.webSignIn(.noAccount)))
    try await session.close()
  }
}
