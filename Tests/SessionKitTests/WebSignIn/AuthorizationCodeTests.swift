import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionTestSupport
import SessionWebSignIn
import Testing

/// The authorization code grant of a real session, with an identity provider on a real socket.
@Suite("A login by authorization code, over real sockets")
struct AuthorizationCodeTests {
  private static let ana = LoopbackIdentity.User(
    id: "o-1", name: "ana@school.test", password: "correct-horse-9")
  private static let right = HeadlessPage.Act.types(
    name: "ana@school.test", password: "correct-horse-9")

  private let bench: Bench
  private let server: IdentityServer
  private let page = HeadlessPage(HeadlessBrowser(URLSessionTransport()))

  init() throws {
    bench = try Bench()
    server = try IdentityServer(LoopbackIdentity(users: [Self.ana]))
  }

  /// The app's browser, used by a test.
  private struct Browser: AuthorizationPage {
    let page: HeadlessPage
    /// Whether the redirect reaches the app instead of the caller.
    var losesRedirects = false

    func open(_ address: URL, redirect: String, isPrivate: Bool) async throws -> URL? {
      do {
        let scheme = String(redirect.prefix { $0 != ":" })
        let redirect = try await page.follow(address, to: scheme)
        return losesRedirects ? nil : redirect
      } catch is PageWasLeft {
        throw WebSignInProblem.cancelledByUser
      }
    }
  }

  private func code(redirect: String = "app://auth") -> AuthorizationCode {
    AuthorizationCode(
      authorization: server.userFlow.appending(path: "oauth2/v2.0/authorize"),
      token: server.userFlow.appending(path: "oauth2/v2.0/token"), client: .form(id: "app-1"),
      redirect: redirect, scope: "openid offline_access")
  }

  private func open() async throws -> Session {
    var configuration = bench.configuration()
    configuration.backend = HTTPBackend.azureADB2C(
      server.userFlow, clientID: "app-1", scope: "openid offline_access")
    return try await Session.open(configuration)
  }

  /// Logs in while a user performs these actions, one on each page.
  private func login(
    _ session: Session, by code: AuthorizationCode? = nil, prompt: WebSignIn.Prompt = .ifNeeded,
    losesRedirects: Bool = false,
    _ acts: [HeadlessPage.Act], then act: () async throws -> Void = {}
  ) async throws -> Result<UserProfile?, SessionError> {
    let browser = Browser(page: page, losesRedirects: losesRedirects)
    let login = WebLogin.authorizationCode(code ?? self.code(), on: browser, prompt: prompt)
    let isSignedIn = session.isAuthenticated
    let task = Task { () -> Result<UserProfile?, SessionError> in
      do throws(SessionError) {
        guard isSignedIn else { return .success(try await session.login(login).user) }
        try await session.reauthenticate(login)
        return .success(session.currentUser)
      } catch {
        return .failure(error)
      }
    }
    for act in acts {
      await eventually("a page waits for the user") { page.isWaiting }
      #expect(session.activity == .authenticating)
      try page.act(act)
    }
    try await act()
    return await task.value
  }

  @Test("WEB-5 LOG-5 REF-1 the code brings tokens once, and the backend refreshes them")
  func success() async throws {
    let session = try await open()
    #expect(try await login(session, [Self.right]).get()?.id == "o-1")
    let identity = server.identity
    #expect(identity.codes.count == 1 && identity.codes.values.first?.uses == 1)
    #expect(identity.violations.isEmpty && identity.wrongPasswords == 0)
    #expect(
      identity.log == ["GET /authorize", "POST /signin", "GET /confirmed", "POST /token"])
    let before = try #require(session.currentToken)
    let after = try await session.refresh()
    #expect(after.generation > before.generation && after.secret != before.secret)
    #expect(server.identity.violations.isEmpty)
    try await session.close()
    #expect(try bench.eventNames() == ["login", "refreshSucceeded"])
  }

  @Test(
    "WEB-5 a redirect that reaches the app from outside ends the login, and a foreign one does not")
  func handedIn() async throws {
    let session = try await open()
    let ending = try await login(session, losesRedirects: true, [Self.right]) {
      await eventually("the page is sent back") {
        page.visited.last?.hasPrefix("app://auth") == true
      }
      let redirect = try #require(page.visited.last.flatMap { URL(string: $0) })
      let foreign = try #require(URL(string: "app://auth?code=c-1&state=other"))
      #expect(await session.handle(foreign) == false)
      #expect(await session.handle(redirect))
    }
    #expect(try ending.get()?.id == "o-1")
    #expect(server.identity.violations.isEmpty)
    try await session.close()
  }

  @Test("LOG-16 WEB-5 a signed-in user authenticates again on the page, and the session goes on")
  func again() async throws {
    let session = try await open()
    _ = try await login(session, [Self.right]).get()
    let before = try #require(session.currentToken)
    #expect(try await login(session, prompt: .always, [Self.right]).get()?.id == "o-1")
    let after = try #require(session.currentToken)
    #expect(after.generation > before.generation && after.secret != before.secret)
    // A user who leaves the page keeps the session.
    let left = try await login(session, prompt: .always, [.leaves])
    #expect(throws: SessionError.self) { try left.get() }
    #expect(session.currentToken == after && session.activity == .idle)
    #expect(server.identity.violations.isEmpty)
    try await session.close()
    #expect(try bench.eventNames() == ["login", "refreshSucceeded"])
  }

  @Test(
    "LOG-17 LOG-18 a provider found by its issuer logs in, and refreshes check identity tokens")
  func discovered() async throws {
    let issuer = server.userFlow.absoluteString
    server.change { $0.issuer = issuer }
    let directory = bench.folder.appending(path: "session")
    let provider = try await OpenIDProvider.discover(issuer, cache: directory)
    #expect(provider.namesIssuer && provider.endSession != nil)
    let client = ClientAuthentication.form(id: "app-1")
    var configuration = bench.configuration(.keeping)
    // Another claim than `sub` names the user.
    var backend = try provider.backend(client: client)
    backend.response.user = [.claim("oid", of: .identity)]
    configuration.backend = backend
    let session = try await Session.open(configuration)
    let reports = session.reports
    let code = try provider.authorizationCode(client: client, redirect: "app://auth")
    #expect(code.scope == "openid")
    server.change { $0.claims = ["exp": 1] }
    let error = await #expect(throws: SessionError.self) {
      try await login(session, by: code, [Self.right]).get()
    }
    guard case .identityToken(let problem) = error?.underlyingError as? WebSignInProblem else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(problem.check == .expiry && problem.found == "1970-01-01T00:00:01.000Z")
    server.change { $0.claims = [:] }
    #expect(try await login(session, by: code, []).get()?.id == "o-1")
    try await session.refresh()
    // The server has replaced the refresh token, so the response counts.
    server.change { $0.claims = ["aud": "other"] }
    #expect(try await session.refresh().generation == Generation(3))
    // Another user's tokens never do.
    server.change { $0.claims = ["sub": "o-2", "oid": "o-1"] }
    let other = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(other?.isExpired == true)
    try await session.close()
    var warnings: [SessionReport] = []
    for try await report in reports where report.isWarning { warnings.append(report) }
    #expect(
      warnings == [
        .warning(
          .identityTokenRefused(
            IdentityTokenError(.audience, expected: "app-1", found: "other"))),
        .warning(
          .identityTokenRefused(IdentityTokenError(.subject, expected: "o-1", found: "o-2"))),
      ])
    #expect(server.identity.violations.isEmpty)
    server.stop()
    #expect(try await OpenIDProvider.discover(issuer, cache: directory) == provider)
  }

  @Test("WEB-5 POL-5 with .always the server asks the user, although its cookie is valid")
  func prompt() async throws {
    let session = try await open()
    _ = try await login(session, [Self.right]).get()
    try await session.logout()
    #expect(try await login(session, []).get()?.id == "o-1")
    try await session.logout()
    #expect(try await login(session, prompt: .always, [Self.right]).get()?.id == "o-1")
    #expect(server.identity.violations.isEmpty)
    try await session.close()
  }
}
