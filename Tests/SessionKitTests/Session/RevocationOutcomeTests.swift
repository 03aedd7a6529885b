import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import SessionTestSupport
import Testing

@testable import SessionHTTP
@testable import SessionKit

@Suite("A session: effects of a revocation on the refresh token")
struct RevocationOutcomeTests {
  /// A backend without a profile, whose logout the access token authenticates.
  private static func wire() throws -> HTTPBackend {
    var wire = try AnswerBench.camelCaseWire()
    wire.profile = nil
    return wire
  }

  private static func tokens(_ number: Int, life: Int = 900) -> String {
    #"{"accessToken":"A\#(number)","refreshToken":"R\#(number)","expiresIn":\#(life),"#
      + #""user":{"id":42}}"#
  }

  private func signedIn(_ wire: HTTPBackend) async throws -> (AnswerBench, Session) {
    let backend = try AnswerBench(wire)
    backend.answer(Self.tokens(1))
    let session = try await backend.open()
    try await session.login(.password("ana@tik.test", "secreta-9"))
    return (backend, session)
  }

  private func paths(_ backend: AnswerBench) -> [String] {
    backend.requests.map(\.url.lastPathComponent)
  }

  private func bearers(_ backend: AnswerBench) -> [String] {
    backend.requests.compactMap { $0.header("Authorization") }
  }

  private func outcomes(_ backend: AnswerBench) throws -> [RevocationOutcome] {
    try backend.bench.records().compactMap { record in
      guard case .note(.revocationSettled(let settled)) = record.content else { return nil }
      return settled.outcome
    }
  }

  /// Opens the session again and waits for this number of outcomes.
  private func reopened(_ backend: AnswerBench, outcomes count: Int) async throws {
    let session = try await backend.open()
    try await eventually("the outcome") { try outcomes(backend).count == count }
    try await session.close()
  }

  @Test("OUT-5 after a 401 to the logout, the access token is refreshed and the logout is repeated")
  func refused() async throws {
    let (backend, session) = try await signedIn(Self.wire())
    backend.answer(401, "")
    backend.answer(Self.tokens(2))
    backend.answer(200, "{}")
    #expect(try await session.logout() == .success)
    #expect(paths(backend) == ["login", "logout", "refresh", "logout"])
    #expect(bearers(backend) == ["Bearer A1", "Bearer A2"])
    #expect(try outcomes(backend) == [.revoked])
    #expect(try backend.bench.files().isEmpty)
    try await session.close()
  }

  /// Logs out without a network, opens the session again, and closes it during a revocation.
  ///
  /// The first request of the revocation waits at the gate, and is refused then.
  private func closing(
    _ backend: AnswerBench, _ session: Session
  ) async throws -> (Gate, Task<Bool, any Error>) {
    #expect(try await session.logout() == .partial(.serverNotTold(status: nil)))
    try await session.close()
    let gate = backend.hold(401, "")
    let short = try await backend.open()
    await eventually("the request is under way") { paths(backend).count == 3 }
    let close = Task { try await short.close() }
    try await Task.sleep(for: .milliseconds(50))
    return (gate, close)
  }

  @Test("OUT-5 a close waits for a revocation that is under way, so that a short process ends it")
  func closed() async throws {
    let (backend, session) = try await signedIn(Self.wire())
    let (gate, close) = try await closing(backend, session)
    backend.answer(Self.tokens(2))
    backend.answer(200, "{}")
    gate.open()
    _ = try await close.value
    #expect(paths(backend) == ["login", "logout", "logout", "refresh", "logout"])
    #expect(bearers(backend).last == "Bearer A2")
    #expect(try outcomes(backend) == [.failed, .revoked])
  }

  @Test("OUT-5 REF-7 after the timeout, a close stops a revocation and still stores its new token")
  func closedLate() async throws {
    let (backend, session) = try await signedIn(Self.wire())
    let (gate, close) = try await closing(backend, session)
    let refresh = backend.hold(200, Self.tokens(2))
    backend.bench.clock.advance(by: .seconds(30))
    gate.open()
    await eventually("the refresh is under way") { paths(backend).last == "refresh" }
    backend.bench.clock.advance(by: .seconds(30))
    try await Task.sleep(for: .milliseconds(50))
    refresh.open()
    _ = try await close.value
    #expect(paths(backend) == ["login", "logout", "logout", "refresh"])

    backend.answer(200, "{}")
    try await reopened(backend, outcomes: 2)
    #expect(bearers(backend).last == "Bearer A2")
    #expect(try outcomes(backend) == [.failed, .revoked])
  }

  @Test("OUT-5 REF-3 a process waits while another one refreshes for the same revocation")
  func claimed() async throws {
    let (backend, session) = try await signedIn(Self.wire())
    #expect(try await session.logout() == .partial(.serverNotTold(status: nil)))
    try await session.close()
    let now = backend.bench.clock.now().time
    try edit(backend) { $0["refreshingUntil"] = now.advanced(by: 1_000).milliseconds }
    backend.answer(401, "")
    let again = try await backend.open()
    await eventually("the first logout request") { paths(backend).count == 3 }
    await eventually("it waits") { backend.bench.clock.sleeperCount > 0 }
    #expect(paths(backend) == ["login", "logout", "logout"])
    // The other process's lease has expired.
    backend.answer(Self.tokens(2))
    backend.answer(200, "{}")
    backend.bench.clock.advance(by: .seconds(1))
    try await eventually("the outcome") { try outcomes(backend).count == 2 }
    #expect(paths(backend) == ["login", "logout", "logout", "refresh", "logout"])
    #expect(try outcomes(backend) == [.failed, .revoked])
    try await again.close()
  }

  @Test("REF-4 OUT-5 a server that demands the access token at a refresh gets it, and only then")
  func accessAtRefresh() async throws {
    var wire = try Self.wire()
    wire.refresh?.accessToken = .bearer
    let (backend, session) = try await signedIn(wire)
    backend.answer(Self.tokens(2))
    try await session.refresh()
    backend.answer(401, "")
    backend.answer(Self.tokens(3))
    backend.answer(200, "{}")
    #expect(try await session.logout() == .success)
    #expect(paths(backend) == ["login", "refresh", "logout", "refresh", "logout"])
    #expect(bearers(backend) == ["Bearer A1", "Bearer A2", "Bearer A2", "Bearer A3"])
    try await session.close()
  }

  @Test("OUT-9 a revocation that the server goes on refusing is given up with its status")
  func givenUp() async throws {
    let (backend, session) = try await signedIn(Self.wire())
    backend.answer(404, "")
    #expect(try await session.logout() == .partial(.serverNotTold(status: 404)))
    try await session.close()
    let start = backend.bench.clock.now().time
    backend.answer(404, "")
    try await reopened(backend, outcomes: 2)
    try edit(backend) { fields in
      #expect(fields["refusedSince"] as? Int64 == start.milliseconds)
      fields["refusedSince"] = start.advanced(by: .seconds(-30 * 86_400)).milliseconds
    }
    backend.answer(404, "")
    try await reopened(backend, outcomes: 3)
    #expect(try outcomes(backend) == [.failed, .failed, .abandoned])
    try await reopened(backend, outcomes: 3)
    #expect(paths(backend) == ["login", "logout", "logout", "logout"])
  }

  @Test("OUT-5 a revocation of an older version is refreshed according to the token's `exp` claim")
  func older() async throws {
    let (backend, session) = try await signedIn(Self.wire())
    #expect(try await session.logout() == .partial(.serverNotTold(status: nil)))
    try await session.close()
    let exp = backend.bench.clock.now().time.milliseconds / 1000 + 60
    let token = LoopbackToken.make(claims: ["exp": .int(Int(exp))])
    try edit(backend) { fields in
      fields["access"] = token
      for name in ["expiresAt", "boot", "deadline"] { fields[name] = nil }
    }
    backend.bench.clock.advance(by: .seconds(61))
    backend.answer(Self.tokens(2))
    backend.answer(200, "{}")
    try await reopened(backend, outcomes: 2)
    #expect(bearers(backend).last == "Bearer A2")
    #expect(try outcomes(backend) == [.failed, .revoked])
  }

  @Test("OUT-5 requests that the server has confirmed are not repeated with the failed ones")
  func several() async throws {
    let url = try AnswerBench.url()
    var wire = AppPreset.oauth(
      token: url.appending(path: "token"), revocation: url.appending(path: "revoke")
    ).backend
    wire.response.user = [.member("user")]
    wire.furtherRevocations = [
      HTTPEndpoint.post(
        url.appending(path: "revoke").absoluteString, body: .form, accessToken: .member("token"),
        tokenHint: "token_type_hint"),
      HTTPEndpoint.post(
        url.appending(path: "bye").absoluteString, body: .none, accessToken: .bearer),
    ]
    let backend = try AnswerBench(wire)
    backend.answer(
      #"{"access_token":"A1","refresh_token":"R1","token_type":"Bearer","expires_in":60,"#
        + #""user":{"id":42}}"#)
    let session = try await backend.open()
    try await session.login(.password("ana@tik.test", "secreta-9"))
    backend.answer(200, "")
    backend.answer(503, "")
    #expect(try await session.logout() == .partial(.serverNotTold(status: 503)))
    let bodies = backend.requests.suffix(2).map { String(decoding: $0.body ?? [], as: UTF8.self) }
    #expect(
      bodies == ["token=R1&token_type_hint=refresh_token", "token=A1&token_type_hint=access_token"])
    try await session.close()
    backend.answer(200, "")
    backend.answer(204, "")
    try await reopened(backend, outcomes: 2)
    #expect(paths(backend).dropFirst() == ["revoke", "revoke", "revoke", "bye"])
    #expect(bearers(backend) == ["Bearer A1"])
    #expect(try outcomes(backend) == [.failed, .revoked])
    #expect(try backend.bench.files().isEmpty)
  }

  /// Changes the stored revocation.
  private func edit(_ backend: AnswerBench, _ change: (inout [String: Any]) -> Void) throws {
    let store = FileSecretStore(folder: backend.bench.secrets)
    let bytes = try #require(try store.read(.revocation))
    var item = try #require(
      try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    var fields = try #require(item["fields"] as? [String: Any])
    change(&fields)
    item["fields"] = fields
    try store.write(.revocation, Array(try JSONSerialization.data(withJSONObject: item)))
  }
}
