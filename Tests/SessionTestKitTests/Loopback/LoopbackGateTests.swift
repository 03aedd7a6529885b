import Testing

@testable import SessionTestKit

/// Interleavings that a test chooses.
@Suite struct LoopbackGateTests {
  private let server: LoopbackServer
  private let client: WebClient

  init() throws {
    server = try LoopbackServer.start()
    client = WebClient(server)
  }

  @Test func requestsWaitUntilTheGateOpens() async throws {
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

  @Test func theyAreAdmittedInOrderOfArrival() async throws {
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

  @Test func aRequestWaitsAtTheGateAsSoonAsItIsReceived() {
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

  @Test func theAnswerMayBeWithheldAfterActing() async throws {
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

  @Test func aHeldRequestTakesTheFaultThatIsSetMeanwhile() async throws {
    let gate = server.hold(.login)
    async let held = client.login()
    await server.received(.login)
    server.failNext(.login, with: .status(503))
    gate.open()
    #expect(try await held.status == 503)
  }

  @Test func aClientThatGaveUpIsServedAllTheSame() async throws {
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

  @Test func waitingEndsWithTheServerOrTheTask() async throws {
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
