import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("Protected calls, on a live session", .timeLimit(.minutes(5)))
struct SessionCallsTests {
  typealias FakeServer = CallBench.FakeServer

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

  @Test("OUT-4 a call never gets the token of another user, or of the same user's next session")
  func otherUser() async throws {
    for user in ["u-1", "u-2"] {
      let bench = try CallBench()
      let session = try await bench.signedIn()
      let hall = Gate()
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
}
