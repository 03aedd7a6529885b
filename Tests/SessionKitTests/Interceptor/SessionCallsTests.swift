import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("Protected calls, on a live session", .timeLimit(.minutes(5)))
struct SessionCallsTests {
  typealias FakeServer = CallBench.FakeServer

  @Test("INT-1 a call carries a valid token without another request")
  func good() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    let backend = FakeServer()
    let calls = session.calls(by: TransportCalls(backend))
    #expect(try await calls.send(bench.get()).status == 200)
    #expect(backend.authorizations == ["Bearer A1"])
    #expect(bench.service.refreshCount == 0)
    try await session.close()
  }

  @Test(
    "INT-1 INT-3 calls with their own Authorization or to public or foreign URLs stay unchanged")
  func untouched() async throws {
    let bench = try CallBench()
    let session = try await bench.open()
    let backend = FakeServer { (_, _) throws(TransportError) in HTTPResponse(status: 401) }
    var rules = CallRules()
    rules.publicPaths = ["help/*"]
    let calls = session.calls(by: TransportCalls(backend), rules: rules)
    // No user is logged in, which does not matter to these calls.
    for _ in 0..<2 {
      let own = bench.get("materials", [HTTPHeader("authorization", "Basic eA==")])
      #expect(try await calls.send(own).status == 401)
      #expect(try await calls.send(bench.get("help/forgotten")).status == 401)
      let other = try #require(URL(string: "https://elsewhere.test/materials"))
      #expect(try await calls.send(HTTPRequest(method: "GET", url: other)).status == 401)
      #expect(backend.authorizations.suffix(3) == ["Basic eA==", nil, nil])
      if !session.isAuthenticated { try await bench.signIn(session) }
    }
    #expect(bench.service.refreshCount == 0)
    #expect(session.currentToken?.generation == Generation(1))
    try await session.close()
  }

  @Test("INT-1 a call without a session fails before it is sent")
  func nobody() async throws {
    let bench = try CallBench()
    let session = try await bench.open(.keeping)
    let backend = FakeServer()
    let calls = session.calls(by: TransportCalls(backend))
    #expect(await sessionError { try await calls.send(bench.get()) } == .notSignedIn)
    try await bench.signIn(session)
    bench.service.fail(.success(HTTPResponse(status: 401)))
    _ = await sessionError { try await session.refresh() }
    #expect(session.state.kind == .expired)
    #expect(await sessionError { try await calls.send(bench.get()) }?.isExpired == true)
    try await session.logout()
    #expect(await sessionError { try await calls.send(bench.get()) } == .notSignedIn)
    #expect(backend.authorizations.isEmpty)
    try await session.close()
    #expect(await sessionError { try await calls.send(bench.get()) } == .closed)
  }

  @Test("INT-1 INT-4 STO-4 a token is never sent over plain HTTP to another machine unless allowed")
  func insecure() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn { wire in
      wire.baseURL = URL(string: "http://10.0.0.5") ?? wire.baseURL
    }
    let backend = FakeServer()
    let url = try #require(URL(string: "http://10.0.0.5/materials"))
    let request = HTTPRequest(method: "GET", url: url)
    let error = await sessionError {
      try await session.calls(by: TransportCalls(backend)).send(request)
    }
    guard case .wrongAddress(let reason) = error.failure else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("10.0.0.5"))
    #expect(backend.authorizations.isEmpty)
    var rules = CallRules()
    rules.allowsInsecure = true
    _ = try await session.calls(by: TransportCalls(backend), rules: rules).send(request)
    #expect(backend.authorizations == ["Bearer A1"])
    try await session.close()
  }

  @Test("INT-1 REF-3 calls with an expired token share one refresh and are then sent")
  func expired() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    await bench.expire(session)
    let backend = FakeServer.accepting(from: 2)
    let calls = session.calls(by: TransportCalls(backend))
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<50 { group.addTask { try await calls.send(bench.get()).status } }
      await eventually("fifty wait") { session.waiterCount == 50 }
      bench.service.gate.open()
      for try await status in group { #expect(status == 200) }
    }
    #expect(bench.service.refreshCount == 1)
    #expect(Set(backend.authorizations) == ["Bearer A2"])
    try await session.close()
  }

  @Test("INT-2 many refused calls share one refresh, and each is sent again once")
  func refusedTogether() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    let (backend, hall) = FakeServer.holdingOldCalls()
    let calls = session.calls(by: TransportCalls(backend))
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<50 { group.addTask { try await calls.send(bench.get()).status } }
      await eventually("fifty are out") { hall.count == 50 }
      hall.open()
      for try await status in group { #expect(status == 200) }
    }
    #expect(bench.service.refreshCount == 1)
    #expect(backend.authorizations.count == 100)
    #expect(session.currentToken?.generation == Generation(2))
    try await session.close()
  }

  @Test("INT-2 a call that was refused with an old token is sent again with the current one")
  func older() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    let (backend, hall) = FakeServer.holdingOldCalls()
    let calls = session.calls(by: TransportCalls(backend))
    let slow = Task { try await calls.send(bench.get()).status }
    await eventually("it is out") { hall.count == 1 }
    try await session.refresh()
    hall.open()
    #expect(try await slow.value == 200)
    #expect(bench.service.refreshCount == 1)
    #expect(backend.authorizations == ["Bearer A1", "Bearer A2"])
    try await session.close()
  }

  @Test("INT-2 a second refusal is the caller's")
  func refusedTwice() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    let backend = FakeServer { (_, place) throws(TransportError) in
      HTTPResponse(status: 401, headers: [HTTPHeader("X-Place", "\(place)")])
    }
    let response = try await session.calls(by: TransportCalls(backend)).send(bench.get())
    #expect(response.status == 401)
    #expect(response.header("X-Place") == "1")
    #expect(backend.authorizations == ["Bearer A1", "Bearer A2"])
    #expect(bench.service.refreshCount == 1)
    #expect(session.isAuthenticated)
    try await session.close()
  }

  @Test(
    "INT-3 any other response is returned unchanged",
    arguments: [200, 204, 304, 400, 403, 404, 429, 500, 503])
  func others(status: Int) async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    let backend = FakeServer { (_, _) throws(TransportError) in
      HTTPResponse(status: status, body: Array("{\"a\":1}".utf8))
    }
    let response = try await session.calls(by: TransportCalls(backend)).send(bench.get())
    #expect(response == HTTPResponse(status: status, body: Array("{\"a\":1}".utf8)))
    #expect(backend.authorizations.count == 1)
    #expect(bench.service.refreshCount == 0)
    try await session.close()
  }

  @Test("INT-3 POL-4 the backend's rules decide which responses cause a refresh")
  func rules() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn { wire in
      wire.failures.insert(
        FailureRule(.rejected, at: [.call], status: 200, codes: ["SESSION_OVER"]), at: 0)
      wire.failures.insert(FailureRule(.unexpected, at: [.call], status: 401), at: 0)
    }
    let backend = FakeServer { (authorization, _) throws(TransportError) in
      authorization == "Bearer A1"
        ? HTTPResponse(status: 200, body: Array(#"{"error":{"code":"SESSION_OVER"}}"#.utf8))
        : HTTPResponse(status: 401)
    }
    let calls = session.calls(by: TransportCalls(backend))
    #expect(try await calls.send(bench.get()).status == 401)
    #expect(backend.authorizations == ["Bearer A1", "Bearer A2"])
    try await session.close()
  }

  @Test("INT-3 REF-6 a call fails with the session's error if its refresh is rejected")
  func refreshRejected() async throws {
    for policy in [SessionPolicy.bench, .keeping] {
      let bench = try CallBench()
      let session = try await bench.signedIn(policy)
      bench.service.fail(.success(HTTPResponse(status: 401)))
      let backend = FakeServer.accepting(from: 2)
      let calls = session.calls(by: TransportCalls(backend))
      let clears = policy.ending.onRejection == .clear
      let error = await sessionError { try await calls.send(bench.get()) }
      #expect(clears ? error?.isLoggedOut == true : error?.isExpired == true)
      #expect(error?.description.contains("rejected 401") == true)
      #expect(session.state.kind == (clears ? .unauthenticated : .expired))
      #expect(backend.authorizations == ["Bearer A1"])
      try await session.close()
    }
  }

  @Test("INT-3 REF-14 a call fails with the refresh's network error, and the next call tries again")
  func refreshFailed() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    bench.service.fail(.failure(.noConnection("there is no network")))
    let backend = FakeServer.accepting(from: 2)
    let calls = session.calls(by: TransportCalls(backend))
    #expect(
      await sessionError { try await calls.send(bench.get()) }
        == .noConnection("there is no network"))
    #expect(session.isAuthenticated)
    #expect(session.currentToken?.generation == Generation(1))
    // The network is back: the next refused call does not wait for the retry.
    #expect(try await calls.send(bench.get()).status == 200)
    #expect(session.currentToken?.generation == Generation(2))
    #expect(bench.service.refreshCount == 2)
    try await session.close()
  }

  @Test("INT-2 REF-6 refused calls cause no further refresh while the server has failures")
  func refreshPutOff() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    bench.service.fail(.success(HTTPResponse(status: 503, body: [])))
    let backend = FakeServer.accepting(from: 2)
    let calls = session.calls(by: TransportCalls(backend))
    for _ in 0..<20 { _ = await sessionError { try await calls.send(bench.get()) } }
    #expect(bench.service.refreshCount == 1)
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(10))
    await eventually("the retry") { session.currentToken?.generation == Generation(2) }
    #expect(try await calls.send(bench.get()).status == 200)
    #expect(bench.service.refreshCount == 2)
    try await session.close()
  }

  @Test("INT-3 a 401 is returned to the caller if there is no way to refresh")
  func noRefresh() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn { $0.refresh = nil }
    let backend = FakeServer.accepting(from: 2)
    let response = try await session.calls(by: TransportCalls(backend)).send(bench.get())
    #expect(response.status == 401)
    #expect(session.isAuthenticated)
    #expect(backend.authorizations == ["Bearer A1"])
    try await session.close()
  }

  @Test("OUT-4 a call never gets the token of another user, or of the same user's next session")
  func otherUser() async throws {
    for user in ["u-1", "u-2"] {
      let bench = try CallBench()
      let session = try await bench.signedIn()
      let hall = CallBench.Gate()
      hall.shut()
      let backend = FakeServer { (_, _) throws(TransportError) in
        await hall.pass()
        return HTTPResponse(status: 401)
      }
      let calls = session.calls(by: TransportCalls(backend))
      let slow = Task { await sessionError { try await calls.send(bench.get()) } }
      await eventually("it is out") { hall.count == 1 }
      try await session.logout()
      bench.clock.advance(by: .milliseconds(5))
      bench.service.signIn(as: user)
      try await bench.signIn(session)
      hall.open()
      #expect(await slow.value?.isLoggedOut == true)
      #expect(backend.authorizations == ["Bearer A1"])
      #expect(bench.service.refreshCount == 0)
      #expect(session.currentToken?.generation == Generation(2))
      try await session.close()
    }
  }

  @Test(
    "OUT-4 a logout ends a call that waits for a refresh, and the late response changes nothing")
  func logoutMeanwhile() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    bench.service.gate.shut()
    let backend = FakeServer.accepting(from: 2)
    let calls = session.calls(by: TransportCalls(backend))
    let slow = Task { await sessionError { try await calls.send(bench.get()) } }
    await eventually("the refresh is out") { bench.service.gate.count == 1 }
    try await session.logout()
    #expect(await slow.value?.isLoggedOut == true)
    bench.service.gate.open()
    #expect(backend.authorizations == ["Bearer A1"])
    #expect(!session.isAuthenticated)
    try await session.close()
  }

  @Test(
    "INT-2 a cancelled call ends at once while it waits, and the refresh continues for the others")
  func cancelled() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    bench.service.gate.shut()
    let backend = FakeServer.accepting(from: 2)
    let calls = session.calls(by: TransportCalls(backend))
    let first = Task { await sessionError { try await calls.send(bench.get()) } }
    let second = Task { try await calls.send(bench.get()).status }
    await eventually("both wait") { session.waiterCount == 2 }
    first.cancel()
    #expect(await first.value == .cancelled)
    bench.service.gate.open()
    #expect(try await second.value == 200)
    #expect(bench.service.refreshCount == 1)
    try await session.close()
  }

  @Test("CTX-2 INT-2 a call during a switch is repeated in the new context without a refresh")
  func switched() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    let (backend, hall) = FakeServer.holdingOldCalls()
    let calls = session.calls(by: TransportCalls(backend))
    let slow = Task { try await calls.send(bench.get()).status }
    await eventually("it is out") { hall.count == 1 }
    try await session.switchContext(to: ContextTarget(role: "r-2", school: "s-2"))
    hall.open()
    #expect(try await slow.value == 200)
    #expect(backend.authorizations == ["Bearer A1", "Bearer A2"])
    #expect(bench.service.refreshCount == 0)
    #expect(session.activeContext?.role.id == "r-2")
    try await session.close()
  }
}
