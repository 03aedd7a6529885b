import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionTestSupport
import SessionWebSignIn
import Testing

/// The logout at the provider's page, as a value and in a session.
@Suite("A logout at the provider's page")
struct ProviderLogoutTests {
  private static func logout(_ page: String, redirect: String = "app://out") throws
    -> ProviderLogout
  {
    ProviderLogout(endSession: try #require(URL(string: page)), client: "a&b", redirect: redirect)
  }

  @Test("OUT-8 the address has the hint, the client, the redirect and the state")
  func address() throws {
    var logout = try Self.logout("https://id.test/out")
    let rest = "post_logout_redirect_uri=app%3A%2F%2Fout&state=s-1"
    #expect(
      logout.address(hint: Secret("e.y.J"), state: "s-1")?.absoluteString
        == "https://id.test/out?client_id=a%26b&id_token_hint=e.y.J&" + rest)
    (logout.client, logout.further) = (nil, ["ui_locales": "de", "state": "mine"])
    logout.endSession = try #require(URL(string: "https://id.test/out?tenant=1"))
    #expect(
      logout.address(hint: nil, state: "s-1")?.absoluteString
        == "https://id.test/out?tenant=1&\(rest)&ui_locales=de")
  }

  private static let none = WebSignInProblem.refused(nil)
  private static let redirects: [(String, WebSignInProblem?)] = [
    ("app://out?state=s-1", nil),
    ("app://out/?state=s-1", nil),
    ("APP://out?state=s-1", nil),
    ("app://out?a=1&state=s-1&b", nil),
    ("app://out#state=s-1", nil),
    ("app://out?state=s%2D1", nil),
    ("app://out", none),
    ("app://out?state=", none),
    ("app://out?state=s-2", none),
    ("app://out?state=S-1", none),
    ("app://out?state=s-1&state=s-1", none),
    ("app://out?state=s-1#state=s-2", none),
    ("app://login?state=s-1", none),
    ("app://out/more?state=s-1", none),
    ("other://out?state=s-1", none),
    ("app://out:80?state=s-1", none),
    ("app://out?state=s-1&error=access_denied", .refused(IdentityCode("access_denied"))),
    ("app://out?state=s-1&error=login_required", .noAccount),
    ("app://out?state=s-2&error=access_denied", none),
    ("app://out?state=s-1&error=", none),
  ]

  @Test(
    "OUT-8 only the own redirect with the state and without an error ends it",
    arguments: redirects)
  func reply(text: String, problem: WebSignInProblem?) throws {
    let logout = try Self.logout("https://id.test/out")
    #expect(logout.problem(in: try #require(URL(string: text)), state: "s-1") == problem)
  }

  @Test(
    "OUT-8 addresses that cannot be used are refused before anything is done",
    arguments: [
      ("http://id.test/out", "app://out"), ("https://id.test/out", "out"),
      ("https://id.test/out", "app://out#a"), ("https://id.test/out", "http://a.test/out"),
    ])
  func unusable(page: String, redirect: String) throws {
    #expect(try Self.logout(page, redirect: redirect).problem != nil)
  }

  @Test("OUT-8 a provider without the page is a typed error")
  func notOffered() throws {
    let address = try #require(URL(string: "https://id.test/"))
    let provider = OpenIDProvider(issuer: "https://id.test", authorization: address, token: address)
    #expect(
      throws: OpenIDProviderError.unsuitable(
        member: "end_session_endpoint", expected: "an HTTPS address", found: nil)
    ) { try provider.logout(client: .form(id: "a"), redirect: "app://out") }
  }

  /// A page that the user leaves, that loses its redirect, or that follows it.
  private struct Page: AuthorizationPage {
    enum Act: Sendable {
      case leaves, returns, follows
      case redirects(to: String)
    }

    let browser: HeadlessPage
    let act: Act

    func open(_ address: URL, redirect: String, isPrivate: Bool) async throws -> URL? {
      switch act {
      case .leaves: throw WebSignInProblem.cancelledByUser
      case .returns: return nil
      case .redirects(let text): return URL(string: text)
      case .follows:
        #expect(!isPrivate)
        return try await browser.follow(address, to: "app")
      }
    }
  }

  @Test(
    "OUT-8 it is pending until the page redirects, also over restarts; then the password is asked")
  func pending() async throws {
    let bench = try Bench()
    let ana = LoopbackIdentity.User(id: "o-1", name: "ana@school.test", password: "correct-horse-9")
    let server = try IdentityServer(LoopbackIdentity(users: [ana]))
    let browser = HeadlessPage(HeadlessBrowser(URLSessionTransport()))
    func page(_ act: Page.Act) -> Page { Page(browser: browser, act: act) }
    let place = server.userFlow.appending(path: "oauth2/v2.0")
    var configuration = bench.configuration()
    var backend = HTTPBackend.azureADB2C(
      server.userFlow, clientID: "app-1", scope: "openid offline_access")
    backend.keepsIdentityToken = true
    configuration.backend = backend
    let code = AuthorizationCode(
      authorization: place.appending(path: "authorize"), token: place.appending(path: "token"),
      client: .form(id: "app-1"), redirect: "app://auth", scope: "openid offline_access")
    func login(_ session: Session, asks: Bool) async throws {
      let task = Task { try await session.login(.authorizationCode(code, on: page(.follows))) }
      if asks {
        await eventually("a page waits for the user") { browser.isWaiting }
        try browser.act(.types(name: ana.name, password: ana.password))
      }
      _ = try await task.value
    }
    let logout = ProviderLogout(
      endSession: place.appending(path: "logout"), client: "app-1", redirect: "app://out")

    var session = try await Session.open(configuration)
    #expect(try await session.isProviderLogoutPending() == false)
    try await login(session, asks: true)
    // Killed between the stored entry and the logout: the user is signed in, and nothing is pending.
    _ = try await session.keepProviderPage()
    try await session.close()
    session = try await Session.open(configuration)
    #expect(try await session.isProviderLogoutPending() == false)
    for (act, problem) in [
      (Page.Act.leaves, WebSignInProblem.cancelledByUser), (.returns, .noRedirect(within: .zero)),
      (.redirects(to: "app://out?state=forged"), .refused(nil)),
    ] {
      // The browser's cookies name the user, so the page does not ask.
      if !session.isAuthenticated { try await login(session, asks: false) }
      #expect(try await session.isProviderLogoutPending() == false)
      let error = await failure { () async throws(SessionError) in
        try await session.logout(at: logout, on: page(act))
      }
      #expect(error?.underlyingError as? WebSignInProblem == problem)
      #expect(!session.isAuthenticated)
      #expect(try await session.isProviderLogoutPending())
      try await session.close()
      session = try await Session.open(configuration)
      #expect(try await session.isProviderLogoutPending())
    }
    try await session.finishLogout(at: logout, on: page(.follows))
    #expect(server.identity.log.suffix(2) == ["GET /logout", "with a hint"])
    #expect(try await session.isProviderLogoutPending() == false)
    let files = try bench.files()
    #expect(!files.contains("revocation") && !files.contains("token"))
    try await login(session, asks: true)
    // Neither the journal nor a plain logout has anything of the page.
    try await session.logout()
    #expect(try await session.isProviderLogoutPending() == false)
    try await session.close()
    let bytes = try Data(contentsOf: URL(filePath: bench.journal))
    #expect(bytes.range(of: Data("eyJ".utf8)) == nil)
  }
}
