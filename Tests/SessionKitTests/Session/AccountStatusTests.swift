import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

/// What the server says about the user's account, in responses to calls of the app and when it is
/// asked.
@Suite("A session: the user's account at the server", .timeLimit(.minutes(5)))
struct AccountStatusTests {
  typealias FakeServer = CallBench.FakeServer

  /// A response to a call that names a code.
  struct Answer: Sendable, CustomStringConvertible {
    let status: Int
    let code: String
    var end: SessionState.Kind?
    var description: String { "\(status) \(code)" }

    var response: HTTPResponse {
      HTTPResponse(status: status, body: Array(#"{"error":{"code":"\#(code)"}}"#.utf8))
    }
  }

  @Test(
    "LOG-6 LOG-7 a fatal code in the response to a call with the token ends the session",
    arguments: [
      Answer(status: 410, code: "USER_DELETED", end: .unauthenticated),
      Answer(status: 401, code: "USER_DELETED", end: .unauthenticated),
      Answer(status: 403, code: "USER_INACTIVE", end: .expired),
      Answer(status: 401, code: "USER_INACTIVE", end: .expired),
      Answer(status: 403, code: "CONTEXT_FORBIDDEN"), Answer(status: 410, code: "ALREADY_DELETED"),
      Answer(status: 500, code: "USER_DELETED"), Answer(status: 404, code: "USER_NOT_FOUND"),
    ])
  func calls(answer: Answer) async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn(.keeping)
    let backend = FakeServer { (_, _) throws(TransportError) in answer.response }
    let response = try await session.calls(by: TransportCalls(backend)).send(bench.get())
    #expect(response.status == answer.status, "the response is the caller's")
    #expect(session.state.kind == answer.end ?? .authenticated)
    #expect(backend.authorizations.count == 1 && bench.service.refreshCount == 0)
    if answer.end == .expired, case .expired(let expired) = session.state {
      #expect(expired.reason == .userInactive)
    }
    try await session.close()
  }

  @Test("LOG-6 INT-1 a fatal code in the response to a call without the token changes nothing")
  func otherCalls() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn(.keeping)
    let gone = Answer(status: 410, code: "USER_DELETED")
    let backend = FakeServer { (_, _) throws(TransportError) in gone.response }
    let calls = session.calls(by: TransportCalls(backend))
    _ = try await calls.send(bench.get("materials", [HTTPHeader("Authorization", "Basic eA==")]))
    _ = try await calls.send(bench.get(), as: .plain)
    let other = try #require(URL(string: "https://elsewhere.test/materials"))
    _ = try await calls.send(HTTPRequest(method: "GET", url: other))
    #expect(session.isAuthenticated)
    try await session.close()
  }

  @Test("LOG-6 OUT-4 a late response to a call of an ended session does not end the next session")
  func late() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn(.keeping)
    let gate = Gate()
    let gone = Answer(status: 410, code: "USER_DELETED")
    let backend = FakeServer { (_, _) throws(TransportError) in
      await gate.pass()
      return gone.response
    }
    let calls = session.calls(by: TransportCalls(backend))
    let request = bench.get()
    let late = Task { try await calls.send(request).status }
    await eventually("the call is on its way") { gate.count == 1 }
    try await session.logout()
    bench.clock.advance(by: .seconds(1))
    try await bench.signIn(session)
    gate.open()
    #expect(try await late.value == 410)
    #expect(session.isAuthenticated, "the same user has signed in anew")
    try await session.close()
  }
}

extension AccountStatusTests {
  private static let tokens =
    #"{"accessToken":"A1","refreshToken":"R1","expiresIn":900,"user":{"id":42}}"#

  private func asked() async throws -> (AnswerBench, Session) {
    var wire = try AnswerBench.camelCaseWire()
    wire.profile = .get(
      "api/auth/me", accessToken: .bearer)
    wire.revocation = nil
    wire.requestFields.userName = "email"
    let backend = try AnswerBench(wire)
    var policy = SessionPolicy.keeping
    policy.limits.profileCheck = .whenUnknown
    policy.limits.requiredItems = [.token]
    backend.answer(Self.tokens)
    let session = try await backend.open(policy)
    try await session.login(.password("ana@tik.test", "secreta-9"))
    return (backend, session)
  }

  @Test("LOG-6 a profile that names another user does not change the user who is shown")
  func otherUser() async throws {
    let (backend, session) = try await asked()
    backend.answer(200, #"{"id":43,"firstName":"Eva","status":"active"}"#)
    #expect(try await session.checkAccountStatus() == .active)
    #expect(session.currentUser?.id == "42" && session.currentUser?.firstName == nil)
    try await session.close()
    // The same applies if the user's own profile is not stored any more.
    try FileSecretStore(folder: backend.bench.secrets).remove(.user)
    var policy = SessionPolicy.keeping
    policy.limits.profileCheck = .whenUnknown
    policy.limits.requiredItems = [.token]
    let again = try await backend.open(policy)
    backend.answer(200, #"{"id":43,"firstName":"Eva","status":"active"}"#)
    #expect(try await again.checkAccountStatus() == .active)
    #expect(again.currentUser?.id != "43" && again.currentUser?.firstName == nil)
    try await again.close()
  }

  @Test("LOG-6 LOG-7 a code in the response decides the account's status, a failure does not")
  func checkFails() async throws {
    let (backend, session) = try await asked()
    backend.answer(503, "")
    let error = await failure { () async throws(SessionError) in
      try await session.checkAccountStatus()
    }
    #expect(error.failure == .server && error?.status == 503)
    #expect(session.isAuthenticated)
    backend.answer(410, #"{"error":{"code":"USER_DELETED"}}"#)
    #expect(try await session.checkAccountStatus() == .deleted)
    #expect(session.state == .unauthenticated)
    let nobody = await failure { () async throws(SessionError) in
      try await session.checkAccountStatus()
    }
    #expect(nobody == .notSignedIn)
    try await session.close()
  }

  @Test(
    "LOG-6 of two checks that overlap, the response to the older one does not win",
    arguments: [
      (200, #"{"id":42,"status":"inactive"}"#), (403, #"{"error":{"code":"USER_INACTIVE"}}"#),
    ])
  func checksOverlap(status: Int, body: String) async throws {
    let (backend, session) = try await asked()
    let gate = backend.hold(status, body)
    let older = Task { try await session.checkAccountStatus() }
    await eventually("the older request is on its way") { backend.requests.count == 2 }
    backend.answer(200, #"{"id":42,"status":"active"}"#)
    #expect(try await session.checkAccountStatus() == .active)
    gate.open()
    #expect(try await older.value == .outdated)
    #expect(session.isAuthenticated)
    try await session.close()
  }

  @Test("LOG-6 INT-2 a refused token is refreshed once, and the profile is requested again")
  func checkRefreshes() async throws {
    let (backend, session) = try await asked()
    backend.answer(401, "")
    backend.answer(Self.tokens.replacing("A1", with: "A2"))
    backend.answer(200, #"{"id":42,"status":"active"}"#)
    #expect(try await session.checkAccountStatus() == .active)
    #expect(backend.requests.last?.header("Authorization") == "Bearer A2")
    // The refresh itself may bring the status.
    backend.answer(401, "")
    backend.answer(403, #"{"error":{"code":"USER_INACTIVE"}}"#)
    #expect(try await session.checkAccountStatus() == .inactive)
    #expect(session.state.kind == .expired)
    try await session.close()
  }

  @Test("LOG-6 a check of the account throws if the backend has no profile endpoint")
  func checkIsNotOffered() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn { $0.profile = nil }
    let error = await failure { () async throws(SessionError) in
      try await session.checkAccountStatus()
    }
    #expect(error.failure == .notOffered)
    try await session.close()
  }
}
