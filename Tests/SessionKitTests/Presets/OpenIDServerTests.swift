import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionTestSupport
import SessionWebSignIn
import Synchronization
import Testing

/// The server that runs for these tests, if there is one.
private enum OpenIDServer {
  static let place = ProcessInfo.processInfo.environment["SESSION_SIMPLEJWT"]
  /// The one whose tokens are bound to keys.
  static let bound = ProcessInfo.processInfo.environment["SESSION_DPOP"]
}

/// The page of a server that logs its user in at once.
private struct Page: AuthorizationPage {
  func open(_ address: URL, redirect: String, isPrivate: Bool) async throws -> URL? {
    let request = HTTPRequest(method: "GET", url: address)
    let target = try await URLSessionTransport().send(request).header("Location")
    return target.flatMap { URL(string: $0) }
  }
}

/// Two real providers, each from its issuer alone: django-oauth-toolkit and django-allauth.
///
/// `Tools/thirdparty/run` installs them, starts them and runs these tests.
@Suite(
  "Real OpenID providers", .enabled(if: OpenIDServer.place != nil), .timeLimit(.minutes(5)))
struct OpenIDServerTests {
  /// Chromium, which comes back to a port of this machine.
  private static func chromium(_ folder: SessionFolder) -> LoopbackPage {
    let profile = "--user-data-dir=" + folder.url.appending(path: "browser").path
    let words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom", profile]
    return LoopbackPage { address in
      let text = try await withCheckedThrowingContinuation { waiter in
        Thread.detachNewThread {
          let words = words + [address.absoluteString]
          waiter.resume(
            with: Result { try ChildProcess.run("chromium", words, errors: .dropped).text })
        }
      }
      // The address of the password's form, which this server does not have.
      if text.contains("<h1>Not Found</h1>") { throw WebSignInProblem.noAccount }
      #expect(text.contains("<p>\(LoopbackPage().text)</p>"))
    }
  }

  @Test(
    "LOG-5 LOG-17 LOG-18 a real provider logs in, refreshes and revokes, with its issuer as the only value",
    arguments: ["/o", ""])
  func lives(path: String) async throws {
    let folder = try SessionFolder()
    let directory = folder.url.appending(path: "session")
    let issuer = try #require(OpenIDServer.place) + path

    let provider = try await OpenIDProvider.discover(issuer, cache: directory)
    let backend = try provider.backend(client: .form(id: "notes"))
    let (redirect, page): (String, any AuthorizationPage) =
      path == "/o"
      ? ("http://127.0.0.1/login", Self.chromium(folder)) : ("app://login", Page())
    let code = try provider.authorizationCode(client: .form(id: "notes"), redirect: redirect)

    #expect(provider.revocation != nil && provider.endSession != nil && code.scope == "openid")
    #expect(provider.namesIssuer == (path == "/o"))
    let session = try await Session.open(
      SessionConfiguration(
        directory: directory, backend: backend,
        secrets: FileSecretStore(folder: directory.path)))
    let reports = session.reports
    try await session.login(.authorizationCode(code, on: page))
    #expect(session.currentUser?.id == "1" && session.canRefreshToken)
    let first = try #require(session.currentToken)
    let second = try await session.refresh()
    #expect(second.generation > first.generation && second.secret != first.secret)
    #expect(try await session.logout() == .success)
    try await session.close()
    var warnings: [SessionReport] = []
    for try await report in reports where report.isWarning { warnings.append(report) }
    #expect(warnings.isEmpty)

    // Another client's identity token is refused, with both values.
    var other = code
    other.identityToken?.client = "other"
    let stranger = try await Session.open(
      SessionConfiguration(
        directory: directory, backend: backend, secrets: FileSecretStore(folder: directory.path)))
    let error = await failure { () async throws(SessionError) in
      try await stranger.login(.authorizationCode(other, on: page))
    }
    let problem = IdentityTokenError(.audience, expected: "other", found: "notes")
    #expect(error == .webSignIn(.identityToken(problem)))
    try await stranger.close()
  }

  /// A browser that keeps cookies and has no user: a page with a form is an error.
  private struct Browser: AuthorizationPage {
    let browser = HeadlessBrowser(URLSessionTransport())

    func open(_ address: URL, redirect: String, isPrivate: Bool) async throws -> URL? {
      do {
        let request = HTTPRequest(method: "GET", url: address)
        let stop = try await browser.go(request, until: "app") { _ in }
        guard case .redirect(let redirect) = stop else { throw WebSignInProblem.viewFailed }
        return redirect
      } catch HeadlessBrowser.Problem.status(404) {
        // The address of the password's form, which this server does not have.
        throw WebSignInProblem.noAccount
      }
    }
  }

  @Test(
    "OUT-8 after a logout at a real provider's page, the provider asks for the password",
    arguments: [true, false])
  func providerLogout(inChromium: Bool) async throws {
    let folder = try SessionFolder()
    let directory = folder.url.appending(path: "session")
    let client = ClientAuthentication.form(id: "notes")
    let provider = try await OpenIDProvider.discover(try #require(OpenIDServer.place) + "/o")
    let session = try await Session.open(
      SessionConfiguration(
        directory: directory, backend: try provider.backend(client: client),
        secrets: FileSecretStore(folder: directory.path)))
    let browser: any AuthorizationPage = inChromium ? Self.chromium(folder) : Browser()
    let base = inChromium ? "http://127.0.0.1/" : "app://"
    var code = try provider.authorizationCode(client: client, redirect: base + "login")
    try await session.login(.authorizationCode(code, on: browser))
    try await session.logout()
    // The browser's cookies still name the user.
    code.further["asks"] = "1"
    try await session.login(.authorizationCode(code, on: browser))
    try await session.refresh()
    let page = try provider.logout(client: client, redirect: base + "logout")
    #expect(try await session.logout(at: page, on: browser) == .success)
    #expect(try await session.isProviderLogoutPending() == false)
    let error = await failure { () async throws(SessionError) in
      try await session.login(.authorizationCode(code, on: browser))
    }
    #expect(error == .webSignIn(.noAccount))
    try await session.close()
  }

  @Test("LOG-19 a real provider logs in a user who confirms the code in another browser")
  func device() async throws {
    let folder = try SessionFolder()
    let directory = folder.url.appending(path: "session")
    let provider = try await OpenIDProvider.discover(try #require(OpenIDServer.place))
    let session = try await Session.open(
      SessionConfiguration(
        directory: directory, backend: try provider.backend(client: .form(id: "notes")),
        secrets: FileSecretStore(folder: directory.path)))
    // With `openid` an identity token would be required, and django-allauth 65.22.1 sends none.
    let grant = try provider.deviceGrant(client: .form(id: "notes"), scope: "profile")
    try await session.login(
      .deviceGrant(grant) { prompt in
        let url = prompt.address.appending(queryItems: [.init(name: "code", value: prompt.userCode)]
        )
        let form = HTTPHeader("Content-Type", "application/x-www-form-urlencoded")
        let request = HTTPRequest(
          method: "POST", url: url, headers: [form], body: Array("action=confirm".utf8))
        do { #expect(try await URLSessionTransport().send(request).status == 200) } catch {
          Issue.record(error)
        }
      })
    #expect(session.currentUser?.id == "1" && session.canRefreshToken)
    try await session.close()
  }
}

/// A real server whose tokens are bound to keys: authgent-server, which `Tools/thirdparty/run` starts.
@Suite(
  "A real server of bound tokens", .enabled(if: OpenIDServer.bound != nil),
  .timeLimit(.minutes(5)))
struct BoundTokenServerTests {
  /// A key in the server's process, so that it signs with a library from outside this project.
  private final class RemoteKey: ProofKey {
    let url: URL
    let isGone = Mutex(false)

    init(_ url: URL) { self.url = url }

    func publicKey() async throws(ProofKeyError) -> ProofPublicKey {
      if isGone.withLock(\.self) { throw .gone }
      return try ProofPublicKey(x963: try await ask("GET", "key"))
    }

    func signature(for message: [UInt8]) async throws(ProofKeyError) -> [UInt8] {
      try await ask("POST", "sign", message)
    }

    func ask(
      _ method: String, _ path: String, _ body: [UInt8]? = nil
    ) async throws(ProofKeyError) -> [UInt8] {
      let address = URL(string: path, relativeTo: url)?.absoluteURL ?? url
      do {
        let request = HTTPRequest(method: method, url: address, body: body)
        let text = try await URLSessionTransport().send(request).body
        return Array(Data(base64Encoded: Data(text)) ?? Data())
      } catch { throw .failed("\(error)") }
    }
  }

  @Test("INT-9 a real server logs in, refreshes, changes its nonces, and takes 1,000 calls")
  func lives() async throws {
    let folder = try SessionFolder()
    let url = try #require(OpenIDServer.bound.flatMap { URL(string: $0) })
    let key = RemoteKey(url)
    let id = String(decoding: try await key.ask("GET", "client"), as: UTF8.self)
    let client = ClientAuthentication.form(id: id)
    let token = url.appending(path: "token")
    var backend = HTTPBackend.oauth(token: token, client: client)
    backend.proof = ProofOfPossession(key: key)
    let code = AuthorizationCode(
      authorization: url.appending(path: "authorize"), token: token, client: client,
      redirect: "http://127.0.0.1/login")
    let session = try await Session.open(
      SessionConfiguration(
        directory: folder.url, backend: backend, secrets: FileSecretStore(folder: folder.secrets)))
    try await session.login(.authorizationCode(code, on: Page()))
    #expect(session.currentToken?.isBound == true)
    let calls = session.calls(by: TransportCalls(URLSessionTransport()))
    let me = HTTPRequest(
      method: "GET",
      url: url.appending(path: "me").appending(queryItems: [.init(name: "a", value: "1")]))
    for _ in 1...1_000 { try #require(try await calls.send(me).status == 200) }
    // The server forgets its nonces, and its clock is no longer this device's.
    for _ in 0..<3 {
      _ = try await key.ask("POST", "back?by=900")
      try await session.refresh()
      #expect(try await calls.send(me).status == 200)
    }
    key.isGone.withLock { $0 = true }
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error?.code == .expired && session.lastEnd?.reason == .expired(.proofKeyLost))
    try await session.close()
  }
}
