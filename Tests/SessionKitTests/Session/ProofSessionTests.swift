import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionWebSignIn
import Synchronization
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A session with bound tokens", .timeLimit(.minutes(5)))
struct ProofSessionTests {
  private let bench: ProofBench

  init() throws { bench = try ProofBench() }

  private func code(_ call: () async throws -> Void) async -> SessionError.Code? {
    await sessionError(of: call)?.code
  }

  @Test("INT-9 token requests and calls are proven, and the nonces of both are kept apart")
  func lives() async throws {
    bench.server.book.withLock { $0.nonces = ["tokens": "t-1", "calls": "c-1"] }
    let session = try await bench.signedIn()
    #expect(
      bench.server.log() == ["POST /auth/login 400 use_dpop_nonce", "POST /auth/login 200"])
    for _ in 0..<2 { #expect(try await bench.call(session) == 200) }
    #expect(
      bench.server.log() == [
        "GET /materials 401 use_dpop_nonce", "GET /materials 200", "GET /materials 200",
      ])
    bench.server.book.withLock { $0.nonces = ["tokens": "t-2", "calls": "c-2"] }
    try await session.refresh()
    try await session.switchContext(to: ContextTarget(role: "r", school: "s"))
    #expect(try await bench.call(session) == 200)
    #expect(
      bench.server.log() == [
        "POST /auth/refresh 400 use_dpop_nonce", "POST /auth/refresh 200",
        "POST /auth/switch-context 200", "GET /materials 401 use_dpop_nonce", "GET /materials 200",
      ])
    #expect(session.currentToken?.isBound == true)

    // Another process uses the same token and key, and knows no nonce yet.
    let other = try await bench.open()
    #expect(try await bench.call(other) == 200)
    try await other.close()
    try await session.close()
    let records = try bench.folder.records()
    #expect(!records.contains { $0.event?.kind == .refreshFailed })
    let bound = records.compactMap { record -> SessionNote.TokensBound? in
      guard case .note(.tokensBound(let bound)) = record.content else { return nil }
      return bound
    }
    let thumbprint = try await bench.key.publicKey().thumbprint
    #expect(bound == [.init(generation: Generation(1), thumbprint: Identifier(thumbprint))])
  }

  @Test("INT-9 a server that wants another nonce each time is asked twice, not for ever")
  func neverALoop() async throws {
    let session = try await bench.signedIn()
    bench.server.book.withLock { $0.refusals = 4 }
    _ = bench.server.log()
    #expect(try await bench.call(session) == 401)
    #expect(await code { try await session.refresh() } == .serverFailure)
    #expect(
      bench.server.log() == [
        "GET /materials 401 use_dpop_nonce", "GET /materials 401 use_dpop_nonce",
        "POST /auth/refresh 400 use_dpop_nonce", "POST /auth/refresh 400 use_dpop_nonce",
      ])
    #expect(session.isAuthenticated)
    try await session.refresh()
    try await session.close()
  }

  @Test("INT-9 a bearer token is used as one, and is reported once", arguments: [true, false])
  func bearer(signsIn: Bool) async throws {
    if signsIn { bench.server.book.withLock { $0.tokenType = "Bearer" } }
    let session = try await bench.open()
    let reports = session.reports
    try await session.login(.password("a@b.test", "correct-horse"))
    bench.server.book.withLock { $0.tokenType = "Bearer" }
    for _ in 0..<2 { try await session.refresh() }
    #expect(try await bench.call(session) == 200)
    #expect(session.currentToken?.isBound == false)
    try await session.close()
    var warnings: [String] = []
    for try await report in reports where report.isWarning { warnings.append(report.name) }
    #expect(warnings == ["session.warning.tokenNotBound"])
  }

  @Test("INT-9 a bound token is refused if there is no key, and the error says what to set")
  func noProof() throws {
    let body = #"{"access_token":"A","token_type":"DPoP","user":{"id":"u","email":"a@b.test"}}"#
    let error = #expect(throws: AnswerFailure.self) {
      try BackendBench.wire.readLogin(BackendBench.response(headers: [], body))
    }
    #expect(error?.failure.kind == .unreadable && error?.problem?.contains("set proof") == true)
  }

  @Test(
    "INT-9 STA-8 a key that is gone, or is another one, ends the session with its own reason",
    arguments: ["refresh", "call", "opening"], [true, false])
  func lost(at place: String, isGone: Bool) async throws {
    var session = try await bench.signedIn()
    if place == "opening" { try await session.close() }
    if isGone { bench.key.fail(.gone) } else { bench.key.replace() }
    _ = bench.server.log()
    switch place {
    case "refresh": #expect(await code { try await session.refresh() } == .expired)
    case "call": #expect(await code { try await bench.call(session) } == .expired)
    default: session = try await bench.open()
    }
    #expect(session.lastEnd?.reason == .expired(.proofKeyLost))
    #expect(bench.server.log().isEmpty)
    bench.key.fail(nil)
    try await session.login(.password("a@b.test", "correct-horse"))
    #expect(try await bench.call(session) == 200)
    try await session.close()
  }

  /// A page that redirects at once.
  private struct Page: AuthorizationPage {
    func open(_ address: URL, redirect: String, isPrivate: Bool) async throws -> URL? {
      let items = URLComponents(url: address, resolvingAgainstBaseURL: false)?.queryItems ?? []
      let state = items.first { $0.name == "state" }?.value ?? ""
      return URL(string: "\(redirect)?code=c-1&state=\(state)")
    }
  }

  @Test("INT-9 LOG-20 the exchange of a code is proven, and its tokens are bound")
  func codeExchange() async throws {
    let url = ProofServer.url
    let code = AuthorizationCode(
      authorization: url.appending(path: "authorize"), token: url.appending(path: "auth/token"),
      client: .form(id: "app"), redirect: "app://login")
    let session = try await bench.open()
    try await session.login(.authorizationCode(code, on: Page(), transport: bench.server))
    #expect(bench.server.log() == ["POST /auth/token 200"])
    try await session.refresh()
    #expect(session.currentToken?.isBound == true && bench.server.log().count == 1)
    try await session.logout()
    #expect(bench.server.log() == ["POST /auth/logout 200"])
    try await session.close()
  }

  @Test("INT-9 a key that is locked for now ends nothing")
  func locked() async throws {
    var session = try await bench.signedIn()
    bench.key.fail(.locked)
    #expect(await code { try await session.refresh() } == .locked)
    #expect(await code { try await bench.call(session) } == .locked)
    try await session.close()
    session = try await bench.open()
    #expect(session.isAuthenticated)
    bench.key.fail(nil)
    #expect(try await bench.call(session) == 200)
    try await session.close()
  }

  @Test("INT-9 a proof has the server's time, also if the device's clock is wrong")
  func skew() async throws {
    bench.server.book.withLock { ($0.skew, $0.nonces) = (7_200, ["tokens": "t-1"]) }
    let session = try await bench.signedIn()
    #expect(
      bench.server.log() == [
        "POST /auth/login 400 invalid_dpop_proof", "POST /auth/login 400 use_dpop_nonce",
        "POST /auth/login 200",
      ])
    bench.clock.advance(by: .seconds(600))
    try await session.refresh()
    #expect(try await bench.call(session) == 200)
    #expect(bench.server.log().first == "POST /auth/refresh 200")
    try await session.close()
  }

  @Test("INT-9 STO-4 a redirect has a proof of its own, and another origin gets none")
  func redirects() async throws {
    let other = try CallServer { _, _ in .answer(200) }
    let elsewhere = other.url.appending(path: "elsewhere").absoluteString
    let server = try CallServer { request, _ in
      switch request.target {
      case "/first": .answer(307, fields: ["Location": "/second"])
      case "/second": .answer(302, fields: ["Location": elsewhere])
      default: .answer(404)
      }
    }
    let session = try await bench.signedIn()
    var rules = CallRules()
    rules.origins = [server.url]
    let api = SessionInterceptor(session, rules: rules)
    _ = try await api.data(for: URLRequest(url: server.url.appending(path: "first")))
    let targets = try server.requests.map { request in
      let proof = try #require(request.fields["dpop"]).split(separator: ".")
      return ProofServer.object(String(proof[1]))?["htu"] as? String
    }
    #expect(targets == ["first", "second"].map { server.url.appending(path: $0).absoluteString })
    let token = try #require(session.currentToken).secret.plaintext
    #expect(server.authorizations == ["DPoP \(token)", "DPoP \(token)"])
    #expect(other.requests.first?.fields["dpop"] == nil && other.authorizations == [nil])
    try await session.close()
  }
}
