import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionTestSupport
import SessionWebSignIn
import Testing

/// The request that redeems an authorization code, at a token endpoint whose responses a test gives.
@Suite("A session: the exchange of an authorization code")
struct CodeExchangeTests {
  /// A page that redirects at once, or that returns without a redirect.
  private struct Page: AuthorizationPage {
    var redirects = true

    func open(_ address: URL, redirect: String, isPrivate: Bool) async throws -> URL? {
      let items = URLComponents(url: address, resolvingAgainstBaseURL: false)?.queryItems ?? []
      let state = items.first { $0.name == "state" }?.value ?? ""
      return redirects ? URL(string: "\(redirect)?code=c-1&state=\(state)") : nil
    }
  }

  /// Loses the response if the task is cancelled before it arrives, as `URLSessionTransport` does.
  struct CancellableTransport: HTTPTransport {
    let bench: AnswerBench

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
      let response = try await bench.send(request)
      guard !Task.isCancelled else { throw .cancelled }
      return response
    }
  }

  private let bench: AnswerBench
  private let code: AuthorizationCode

  init() throws {
    let url = try AnswerBench.url()
    let token = url.appending(path: "token")
    bench = try AnswerBench(
      .oauth(
        token: token, revocation: url.appending(path: "revoke"), client: .form(id: "app"),
        allowsPasswordGrant: true))
    code = AuthorizationCode(
      authorization: url.appending(path: "authorize"), token: token, client: .form(id: "app"),
      redirect: "app://login")
  }

  private func login(_ page: Page = Page(), limit: Duration? = nil) -> WebLogin {
    var code = code
    if let limit { code.redirectLimit = limit }
    return .authorizationCode(code, on: page, transport: CancellableTransport(bench: bench))
  }

  private func error(of login: WebLogin) async throws -> SessionError {
    let session = try await bench.open()
    let found = await failure { () async throws(SessionError) in try await session.login(login) }
    let error = try #require(found)
    #expect(session.status.loginError == error)
    try await session.close()
    return error
  }

  /// Has the next request receive the response of a row.
  private func answer(_ response: String, _ body: String) throws {
    switch response {
    case "not sent": return
    case "lost": bench.lose()
    default:
      let parts = response.split(separator: ", Retry-After ")
      let status = try #require(Int(parts[0]))
      bench.answer(
        status, body, headers: parts.dropFirst().map { HTTPHeader("Retry-After", String($0)) })
    }
  }

  @Test(
    "LOG-20 LOG-3 a code that is not redeemed throws the error of a login with a password",
    arguments: SpecPage("WebSignIn.md").rows([
      "response", "body", "error", "advice", "with a password",
    ]).map { SpecPage.Row(cells: $0) })
  func refusals(row: SpecPage.Row) async throws {
    try answer(row[0], row[1])
    let error = try await error(of: login())
    #expect("\(error.code)" == row[2] && ErrorSamples.caseName(error.advice) == row[3], "\(error)")
    try answer(row[0], row[1])
    let other = try #require(try await bench.signInError())
    #expect("\(other.code)" == row[4], "\(other)")
    #expect(
      error.status == other.status && error.serverCode == other.serverCode
        && error.retryAfter == other.retryAfter)
    // Whether the server may have acted, and what is wrong.
    if error.code == other.code, error.status == nil {
      #expect(error.underlyingError as? BackendError == other.underlyingError as? BackendError)
      #expect(error.description == other.description)
    }
    #expect(bench.requests.count == 2)
  }

  @Test(
    "LOG-10 if a login is cancelled while its code is redeemed, the late tokens are revoked",
    arguments: [true, false])
  func cancellation(namesUser: Bool) async throws {
    let access = namesUser ? "\(LoopbackToken.make(claims: ["sub": "o-1"]))" : "opaque"
    let gate = bench.hold(
      200, #"{"access_token":"\#(access)","refresh_token":"r-1","expires_in":60}"#)
    let session = try await bench.open()
    let task = Task { [login = login()] in try await session.login(login) }
    await eventually("the code is sent") { bench.requests.count == 1 }
    task.cancel()
    await #expect(throws: SessionError.cancelled) { try await task.value }
    bench.answer("")
    gate.open()
    await eventually("the tokens are revoked") { bench.requests.count == 2 }
    #expect(bench.requests.last?.url.path == "/revoke" && bench.lastBody.contains("token=r-1"))
    #expect(!session.isAuthenticated && session.activity == .idle)
    try await session.close()
  }

  @Test("LOG-10 tokens that do not name the user log in no user, and are revoked")
  func nameless() async throws {
    bench.answer(#"{"access_token":"opaque","refresh_token":"r-1","expires_in":60}"#)
    bench.answer("")
    let session = try await bench.open()
    let error = await failure { () async throws(SessionError) in try await session.login(login()) }
    #expect(error == .webSignIn(.unreadableTokens))
    await eventually("the tokens are revoked") { bench.requests.count == 2 }
    #expect(bench.requests.last?.url.path == "/revoke" && bench.lastBody.contains("token=r-1"))
    try await session.close()
  }

  @Test(
    "LOG-18 LOG-10 tokens whose identity token is wrong log in no user, and are revoked",
    arguments: [false, true])
  func wrongIdentity(isPassword: Bool) async throws {
    var (wire, code) = (bench.wire, code)
    wire.identityToken = IdentityToken.Expectation(issuer: "https://id.test", client: "app")
    code.identityToken = wire.identityToken
    let bench = bench.speaking(wire)
    let token = LoopbackToken.make(claims: ["sub": "o-1", "iss": "https://id.test", "aud": "other"])
    bench.answer(
      #"{"access_token":"a","refresh_token":"r-1","expires_in":60,"id_token":"\#(token)"}"#)
    bench.answer("")
    let session = try await bench.open()
    let error = await failure { () async throws(SessionError) in
      if isPassword {
        try await session.login(.password("a@b.test", "secreta-9"))
      } else {
        try await session.login(.authorizationCode(code, on: Page(), transport: bench))
      }
    }
    let problem = IdentityTokenError(.audience, expected: "app", found: "other")
    #expect(error == .webSignIn(.identityToken(problem)) && error?.code == .invalidResponse)
    #expect(error?.underlyingError as? WebSignInProblem == .identityToken(problem))
    #expect(error?.description.contains("must be app, and is other") == true)
    await eventually("the tokens are revoked") { bench.requests.count == 2 }
    #expect(bench.requests.last?.url.path == "/revoke" && bench.lastBody.contains("token=r-1"))
    #expect(!session.isAuthenticated && session.status.loginError == error)
    try await session.close()
  }

  @Test("WEB-5 a page that returns without a redirect is not waited for without an end")
  func withoutRedirect() async throws {
    let limit = Duration.milliseconds(20)
    let error = try await error(of: login(Page(redirects: false), limit: limit))
    #expect(error == .webSignIn(.noRedirect(within: limit)) && error.code == .noReply)
    #expect(error.description.contains("cancelledByUser") && bench.requests.isEmpty)
  }
}
