import Foundation
import Testing

@testable import SessionTestKit

/// Interleavings that a test chooses.
@Suite
struct LoopbackGateTests {
  private let server: LoopbackServer
  private let client: WebClient

  init() throws {
    server = try LoopbackServer.start()
    client = WebClient(server)
  }

  @Test
  func requestsWaitUntilTheGateOpens() async throws {
    server.settings.update { $0.rotatesRefreshTokens = true }
    let token = try await client.login().tokens.refreshToken
    let gate = server.hold(.refresh)
    async let first = client.refresh(token)
    async let second = client.refresh(token)
    #expect(await server.received(.refresh, count: 2))
    // Other requests pass meanwhile.
    #expect(try await client.materials("x").status == 401)
    #expect(server.calls.filter { $0.endpoint == .refresh }.allSatisfy { $0.outcome == .waiting })
    gate.open()
    gate.open()
    let statuses = try await [first.status, second.status]
    #expect(statuses.sorted() == [200, 401])
    #expect(gate.waiting == 0)
    #expect(try await client.refresh(token).status == 401)
  }

  @Test
  func theyAreAdmittedInOrderOfArrival() async throws {
    let gate = server.hold(.login)
    async let first = client.send("POST", "auth/login", ["email": "1", "password": "1"])
    await server.received(.login, count: 1)
    async let second = client.login()
    await server.received(.login, count: 2)
    gate.admit(1)
    #expect(try await first.status == 404)
    #expect(server.calls.map(\.status) == [404, nil])
    gate.admit(2)
    #expect(try await second.status == 200)
    // One permit remains for the next request; then it is closed again.
    #expect(try await client.login().status == 200)
    let last = Task { try await client.login() }
    await server.received(.login, count: 4)
    #expect(server.calls.last?.outcome == .waiting)
    gate.open()
    #expect(try await last.value.status == 200)
  }

  @Test
  func aRequestWaitsAtTheGateAsSoonAsItIsReceived() {
    var state = LoopbackServerState(backend: .edu())
    let gate = state.gates.close(.refresh, at: .beforeActing)
    let request = ReceivedRequest(method: "POST", path: "/auth/refresh")
    var older = state.receive(request, connection: 1, now: 0)
    var newer = state.receive(request, connection: 2, now: 0)
    #expect(state.gates.waiting(at: gate) == 2)
    state.gates.admitNewest(at: gate)
    guard case .wait = state.advance(&older, at: 0, now: 0) else {
      Issue.record("the older request passed")
      return
    }
    guard case .finish = state.advance(&newer, at: 0, now: 0) else {
      Issue.record("the newer request waits")
      return
    }
  }

  @Test
  func theAnswerMayBeWithheldAfterActing() async throws {
    let signedIn = try await client.login().tokens
    server.settings.update { $0.rotatesRefreshTokens = true }
    let gate = server.hold(.refresh, at: .afterActing)
    async let held = client.refresh(signedIn.refreshToken)
    await server.received(.refresh)
    while gate.waiting == 0 { await Task.yield() }
    // It has acted: the new login shows in the token count, and the old token is replaced.
    let other = Task { try await client.refresh(signedIn.refreshToken) }
    await server.received(.refresh, count: 2)
    gate.open()
    #expect(try await held.status == 200)
    #expect(try await other.value.code == "TOKEN_REUSED")
  }

  @Test
  func aHeldRequestTakesTheFaultThatIsSetMeanwhile() async throws {
    let gate = server.hold(.login)
    async let held = client.login()
    await server.received(.login)
    server.failNext(.login, with: .status(503))
    gate.open()
    #expect(try await held.status == 503)
  }

  @Test
  func aClientThatGaveUpIsServedAllTheSame() async throws {
    server.settings.update { $0.rotatesRefreshTokens = true }
    let token = try await client.login().tokens.refreshToken
    let gate = server.hold(.refresh)
    let impatient = Task { try await client.refresh(token) }
    await server.received(.refresh)
    impatient.cancel()
    _ = await impatient.result
    gate.open()
    await server.answered(.refresh)
    #expect(try await client.refresh(token).code == "TOKEN_REUSED")
  }

  @Test
  func waitingEndsWithTheServerOrTheTask() async throws {
    let abandoned = Task { await server.received(.logout) }
    let cancelled = Task { await server.answered(.logout, count: 5) }
    cancelled.cancel()
    #expect(await cancelled.value == false)
    server.stop()
    #expect(await abandoned.value == false)
    #expect(await server.received(.logout) == false)
    #expect(await server.received(.logout, count: 0))
  }
}

/// Each way in which a request can fail.
@Suite
struct LoopbackFaultTests {
  private let server: LoopbackServer
  private let client: WebClient

  init() throws {
    server = try LoopbackServer.start()
    client = WebClient(server)
  }

  @Test
  func aStatusIsAnsweredWithoutActing() async throws {
    server.settings.update { $0.rotatesRefreshTokens = true }
    let token = try await client.login().tokens.refreshToken
    server.failNext(.refresh, with: .status(503))
    server.failNext(.refresh, with: .status(401, code: "TOKEN_EXPIRED"))
    server.failNext(.refresh, with: .status(429, code: "SLOW_DOWN", retryAfter: 7))
    // Faults of one endpoint do not affect the others.
    #expect(try await client.materials("x").code == "TOKEN_INVALID")
    #expect(try await client.refresh(token).status == 503)
    #expect(try await client.refresh(token).code == "TOKEN_EXPIRED")
    let limited = try await client.refresh(token)
    #expect(limited.status == 429 && limited.headers["retry-after"] == "7")
    #expect(limited.headers["date"] != nil)
    #expect(try await client.refresh(token).status == 200)
  }

  @Test
  func faultsRepeatAndCanBeCleared() async throws {
    server.failNext(.login, with: .status(500), times: 3)
    #expect(try await client.login().status == 500)
    #expect(try await client.login().status == 500)
    server.clearFaults()
    #expect(try await client.login().status == 200)
  }

  @Test(arguments: [LoopbackFault.Moment.beforeActing, .afterActing])
  func aDroppedConnectionChangedStateOrNot(moment: LoopbackFault.Moment) async throws {
    server.settings.update { $0.rotatesRefreshTokens = true }
    let token = try await client.login().tokens.refreshToken
    server.failNext(.refresh, with: .dropConnection(moment))
    await #expect(throws: URLError.self) { try await client.refresh(token) }
    #expect(server.calls.last?.outcome == .dropped)
    // The test of a fault would be wrong if the client repeated the request by itself.
    #expect(server.count(of: .refresh) == 1)
    let second = try await client.refresh(token)
    switch moment {
    case .beforeActing: #expect(second.status == 200)
    case .afterActing: #expect(try second.status == 401 && second.code == "TOKEN_REUSED")
    }
  }

  @Test(arguments: [0, 1, 16, 40, 200, 300])
  func aCutAnswerIsNoAnswer(bytes: Int) async throws {
    server.settings.update { $0.rotatesRefreshTokens = true }
    let token = try await client.login().tokens.refreshToken
    server.failNext(.refresh, with: .cutAnswer(afterBytes: bytes))
    let port = server.port
    let body = #"{"refresh_token":"\#(token ?? "")"}"#
    let isWhole = try await onThread {
      try RawClient(port: port).post("/auth/refresh", body) != nil
    }
    #expect(!isWhole)
    #expect(try await client.refresh(token).code == "TOKEN_REUSED")
  }

  @Test
  func bytesAreAnsweredAsTheyAre() async throws {
    server.failNext(.login, with: .html)
    server.failNext(.login, with: .brokenJSON)
    server.failNext(.login, with: .body([0xFF, 0x00], contentType: "x/y", status: 502))
    let page = try await client.login()
    #expect(page.status == 200 && page.headers["content-type"] == "text/html")
    #expect(String(decoding: page.body, as: UTF8.self).hasPrefix("<!doctype html>"))
    let broken = try await client.login()
    #expect(throws: DecodingError.self) { try broken.tokens }
    let raw = try await client.login()
    #expect(raw.status == 502 && raw.body == Data([0xFF, 0x00]))
    #expect(server.calls.map(\.status) == [200, 200, 502])
  }

  @Test
  func bytesMayComeAfterActing() async throws {
    server.settings.update { $0.rotatesRefreshTokens = true }
    let token = try await client.login().tokens.refreshToken
    server.failNext(.refresh, with: .body([], contentType: "text/plain", status: 200, .afterActing))
    #expect(try await client.refresh(token).body.isEmpty)
    #expect(try await client.refresh(token).code == "TOKEN_REUSED")
  }

  @Test
  func membersOfTheTrueAnswerAreReplaced() async throws {
    server.failNext(.login, with: .malformedToken)
    server.failNext(.login, with: .expiresIn(0))
    server.failNext(.login, with: .expiresIn(-5))
    server.failNext(.login, with: .expiresIn("soon"))
    server.failNext(.login, with: .patch(["refresh_token": nil, "extra": [1]]))
    let malformed = try await client.login().tokens
    #expect(malformed.accessToken == "only.two" && malformed.refreshToken != nil)
    #expect(try await client.login().tokens.expiresIn == 0)
    #expect(try await client.login().tokens.expiresIn == -5)
    let text = String(decoding: try await client.login().body, as: UTF8.self)
    #expect(text.contains(#""expires_in":"soon""#))
    let patched = try await client.login()
    #expect(String(decoding: patched.body, as: UTF8.self).contains(#""extra":[1]"#))
    #expect(try patched.tokens.refreshToken == nil && patched.tokens.accessToken != nil)
  }

  @Test
  func aDelayedRequestIsAnsweredTruly() async throws {
    server.failNext(.login, with: .delay(.milliseconds(20)))
    #expect(try await client.login().status == 200)
    server.failNext(.login, with: .delay(.seconds(3600)))
    let call = Task { try await client.login() }
    await server.received(.login, count: 2)
    #expect(server.calls.last?.outcome == .waiting)
    // It does not delay another client.
    #expect(try await WebClient(server).login().status == 200)
    call.cancel()
    _ = await call.result
  }
}
