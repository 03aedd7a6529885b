import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionTestSupport
import SessionWebSignIn
import Synchronization
import Testing

/// The device grant as values: which responses are wrong, and what follows each poll.
@Suite("A device grant")
struct DeviceGrantTests {
  private static let backend = HTTPBackend.oauth(
    token: URL(string: "https://id.test/token") ?? URL(filePath: "/"), client: .form(id: "app"))

  /// A right response, with one member replaced or left out.
  static func response(_ changed: String = "", _ value: String? = nil) -> String {
    var members = [
      "device_code": #""d-secret-1""#, "user_code": #""WDJB-MJHT""#, "expires_in": "1800",
      "verification_uri": #""https://id.test/device""#, "interval": "5",
      "verification_uri_complete": #""https://id.test/device?user_code=WDJB-MJHT""#,
    ]
    if !changed.isEmpty { members[changed] = value }
    return "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
  }

  private func device(
    _ changed: String = "", _ value: String? = nil
  ) throws(AnswerFailure) -> DeviceAuthorization {
    let body = Array(Self.response(changed, value).utf8)
    return try DeviceAuthorization(HTTPResponse(status: 200, body: body), from: Self.backend)
  }

  @Test(
    "LOG-19 a wrong response to the request for a code is refused, and no value of it is shown",
    arguments: [
      ("device_code", nil), ("device_code", "7"), ("device_code", #""""#), ("user_code", nil),
      ("user_code", #""""#), ("user_code", #""A\nB""#), ("verification_uri", nil),
      ("verification_uri", #""http://id.test/device""#), ("verification_uri", #""javascript:1""#),
      ("verification_uri", #""https://ana@id.test/""#), ("verification_uri", #""https://i d""#),
      ("verification_uri_complete", #""file:///etc""#), ("verification_uri_complete", "{}"),
      ("expires_in", nil), ("expires_in", "0"), ("expires_in", "-1"), ("expires_in", #""soon""#),
      ("interval", "-1"), ("interval", "[]"),
    ] as [(String, String?)])
  func wrong(member: String, value: String?) {
    let error = #expect(throws: AnswerFailure.self) { try device(member, value) }
    #expect(error?.failure == RequestFailure(kind: .unreadable, status: 200))
    #expect(
      error?.problem?.hasPrefix(member + " ") == true && error?.problem?.contains("7") == false)
  }

  @Test("LOG-19 what may be missing has a default, and a page of this machine is accepted")
  func right() throws {
    let whole = try device()
    #expect(whole.interval == 5000 && whole.lifetime == 1_800_000)
    #expect(whole.completeAddress?.query == "user_code=WDJB-MJHT")
    #expect(try device("verification_uri_complete").completeAddress == nil)
    #expect(try device("interval").interval == 5000 && device("interval", "0").interval == 1000)
    #expect(try device("verification_uri", #""http://127.0.0.1/#/a""#).address.fragment == "/a")
    let url = Self.backend.baseURL
    let plain = try #require(URL(string: "http://id.test/"))
    func problem(_ code: URL, _ token: URL, _ client: ClientAuthentication) -> String? {
      DeviceGrant(deviceAuthorization: code, token: token, client: client).problem
    }
    #expect(problem(url, url, .form(id: "app")) == nil && problem(url, url, .none) != nil)
    #expect(problem(plain, url, .form(id: "app"))?.contains("device authorization") == true)
    #expect(problem(url, plain, .form(id: "app"))?.contains("token endpoint") == true)
  }

  /// Answers of the token endpoint, and the step after the last one, 10 s after the codes were issued.
  ///
  /// The interval is 5 s. An answer is a status and a code, `lost` or `offline`.
  private static let polls: [(answers: [String], step: String)] = [
    (["400 authorization_pending"], "wait 5"),
    (["400 slow_down"], "wait 10"),
    (["400 slow_down", "400 authorization_pending", "400 slow_down"], "wait 15"),
    (["400 slow_down", "lost"], "wait 20"),
    (["lost"], "wait 10"),
    (["offline", "lost", "503"], "wait 40"),
    (Array(repeating: "offline", count: 99), "wait 320"),
    (["offline", "offline", "400 authorization_pending", "offline"], "wait 10"),
    (["429"], "wait 60"),
    (["400 access_denied"], "cancelledByUser"),
    (["400 expired_token"], "refused expired_token"),
    (["400 invalid_grant"], "requestFailed rejected 400 invalid_grant"),
    (["lost", "400 invalid_grant"], "requestFailed rejected 400 invalid_grant, lost"),
    (["offline", "401 invalid_client"], "requestFailed unexpected 401 invalid_client"),
    (["503 temporarily_unavailable"], "requestFailed server 503 temporarily_unavailable"),
    (["400 no code of ours"], "requestFailed unexpected 400 CODE_NOT_KEPT"),
    (["untrusted"], "requestFailed noConnection NOT_TRUSTED"),
    (["200"], "requestFailed unreadable 200"),
  ]

  private static func error(of answer: String) -> BackendError {
    switch answer {
    case "lost": return .noResponse("lost", mayHaveActed: true)
    case "offline": return .noResponse("offline", mayHaveActed: false)
    case "untrusted": return BackendError(.notTrusted)
    default:
      let parts = answer.split(separator: " ", maxSplits: 1).map(String.init)
      let body = parts.count > 1 ? #"{"error":"\#(parts[1])"}"# : ""
      let headers = parts[0] == "429" ? [HTTPHeader("Retry-After", "60")] : []
      let response = HTTPResponse(
        status: Int(parts[0]) ?? 0, headers: headers, body: Array(body.utf8))
      let failure = backend.failure(.login, response)
      return BackendError(failure ?? RequestFailure(kind: .unreadable, status: 200), message: nil)
    }
  }

  private func text(_ step: DevicePolling.Step) -> String {
    switch step {
    case .wait(let time): "wait \(time / 1000)"
    case .end(.requestFailed(let failure, let detail)):
      "requestFailed \(failure)"
        + (detail?.contains("may have had the tokens") == true ? ", lost" : "")
    case .end(let problem): problem.description
    }
  }

  @Test("LOG-19 each answer to a poll decides the next step (RFC 8628 §3.5)", arguments: polls)
  func next(answers: [String], step: String) throws {
    var polling = DevicePolling(try device(), since: 1000)
    let steps = answers.map { polling.next(after: Self.error(of: $0), at: 11_000) }
    #expect(steps.last.map(text) == step)
  }

  @Test("LOG-19 after the lifetime the login ends, and names the connection if that was the reason")
  func end() throws {
    var polling = DevicePolling(try device("expires_in", "12"), since: 0)
    let pending = Self.error(of: "400 authorization_pending")
    let offline = Self.error(of: "offline")
    // One poll follows the end, because the server may have begun to count later.
    #expect(polling.next(after: pending, at: 10_000) == .wait(5000))
    #expect(polling.next(after: offline, at: 2000) == .wait(10_000))
    #expect(text(polling.next(after: offline, at: 12_000)) == "requestFailed noConnection")
    #expect(text(polling.next(after: pending, at: 12_000)) == "refused expired_token")
  }
}

/// The device grant of a session, on a manual clock and at a server whose responses a test gives.
@Suite("A session: a login by the device grant")
final class DeviceLoginTests: Sendable {
  private let bench: AnswerBench
  private let grant: DeviceGrant
  /// The prompts that were shown, and whether the last one is still shown.
  private let prompts = Mutex<(shown: [DevicePrompt], isOpen: Bool)>(([], false))

  init() throws {
    let url = try AnswerBench.url()
    let token = url.appending(path: "token")
    bench = try AnswerBench(
      .oauth(token: token, revocation: url.appending(path: "revoke"), client: .form(id: "app")))
    var grant = DeviceGrant(
      deviceAuthorization: url.appending(path: "device"), token: token, client: .form(id: "app"),
      scope: "openid", further: ["audience": "notes", "scope": "no"])
    grant.identityToken = IdentityToken.Expectation(issuer: "https://id.test", client: "app")
    self.grant = grant
  }

  private var tokens: String {
    let identity = LoopbackToken.make(claims: [
      "iss": "https://id.test", "aud": "app", "sub": "o-1", "iat": 1, "exp": 2,
    ])
    return
      #"{"access_token":"a","refresh_token":"r-1","expires_in":3600,"id_token":"\#(identity)"}"#
  }

  /// A login whose prompt is shown until it is cancelled.
  private func login() -> WebLogin {
    .deviceGrant(grant, transport: CodeExchangeTests.CancellableTransport(bench: bench)) {
      [self] prompt in
      prompts.withLock { $0 = ($0.shown + [prompt], true) }
      do { try await Task.sleep(for: .seconds(600)) } catch {
        prompts.withLock { $0.isOpen = false }
      }
    }
  }

  /// Waits until the login sleeps for exactly this time, and lets the time pass.
  ///
  /// `count` is the number of requests before.
  private func pass(_ seconds: Int64, after count: Int) async {
    let clock = bench.bench.clock
    let due = clock.now().uptime + seconds * 1000
    await eventually("the next poll is due") { clock.nextDeadline == due }
    #expect(bench.requests.count == count)
    clock.advance(by: .seconds(seconds))
    await eventually("it is sent") { bench.requests.count > count }
  }

  private func answer(_ code: String) { bench.answer(400, #"{"error":"\#(code)"}"#) }

  @Test("LOG-19 LOG-16 a user enters the code, and the session polls at the server's pace")
  func success() async throws {
    let session = try await bench.open()
    bench.answer(DeviceGrantTests.response())
    for code in ["authorization_pending", "slow_down"] { answer(code) }
    bench.answer(tokens)
    let start = bench.bench.clock.now().time
    let task = Task { [login = login()] in try await session.login(login) }
    for (count, pause): (Int, Int64) in [(1, 5), (2, 5), (3, 10)] {
      await pass(pause, after: count)
    }
    #expect(try await task.value.user?.id == "o-1")
    let prompt = try #require(prompts.withLock { $0.isOpen ? nil : $0.shown.first })
    #expect(prompt.userCode == "WDJB-MJHT" && prompt.address.path == "/device")
    #expect(prompt.expiresAt == Date(start.advanced(by: 1_800_000)))
    #expect("\(prompt) \(String(reflecting: prompt))".contains("WDJB") == false)
    let bodies = bench.requests.map { String(decoding: $0.body ?? [], as: UTF8.self) }
    #expect(bodies[0] == "audience=notes&client_id=app&scope=openid")
    #expect(bodies[3].contains("device_code=d-secret-1") && Set(bodies[1...]).count == 1)
    #expect(bodies[3].contains("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code"))

    bench.answer(DeviceGrantTests.response())
    bench.answer(tokens)
    let first = try #require(session.currentToken)
    let again = Task { [login = login()] in try await session.reauthenticate(login) }
    await pass(5, after: 5)
    try await again.value
    #expect(try #require(session.currentToken).generation > first.generation)
    try await session.close()
  }

  @Test("LOG-19 the login ends with the lifetime of the code")
  func expiry() async throws {
    let session = try await bench.open()
    bench.answer(DeviceGrantTests.response("expires_in", "7"))
    for _ in 0..<2 { answer("authorization_pending") }
    let task = Task { [login = login()] in try await session.login(login) }
    for count in [1, 2] { await pass(5, after: count) }
    let expired = SessionError.webSignIn(.refused(IdentityCode("expired_token")))
    await #expect(throws: expired) { try await task.value }
    #expect(prompts.withLock { !$0.isOpen } && session.status.loginError == expired)
    try await session.close()
  }

  @Test("LOG-19 a server that issues no code refuses the login, and nothing is shown")
  func noCode() async throws {
    let session = try await bench.open()
    answer("unauthorized_client")
    let error = await failure { () async throws(SessionError) in try await session.login(login()) }
    #expect(error?.code == .refused && error?.serverCode == "unauthorized_client")
    #expect(prompts.withLock { $0.shown.isEmpty } && bench.requests.count == 1)
    try await session.close()
  }

  @Test(
    "LOG-19 LOG-10 a cancelled login stops, and tokens of a poll on its way are revoked",
    arguments: [false, true])
  func cancellation(isOnItsWay: Bool) async throws {
    let session = try await bench.open()
    bench.answer(DeviceGrantTests.response())
    let task = Task { [login = login()] in try await session.login(login) }
    await eventually("the code is shown") { prompts.withLock { $0.isOpen } }
    var gate: Gate?
    if isOnItsWay {
      gate = bench.hold(200, tokens)
      await pass(5, after: 1)
    }
    task.cancel()
    await #expect(throws: SessionError.cancelled) { try await task.value }
    await eventually("the prompt is gone") { prompts.withLock { !$0.isOpen } }
    if let gate {
      bench.answer("")
      gate.open()
      await eventually("the tokens are revoked") { bench.requests.count == 3 }
      #expect(bench.requests.last?.url.path == "/revoke" && bench.lastBody.contains("token=r-1"))
    } else {
      bench.bench.clock.advance(by: .seconds(600))
      #expect(bench.requests.count == 1)
    }
    #expect(!session.isAuthenticated && session.activity == .idle)
    try await session.close()
  }
}
