import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Testing

@testable import SessionHTTP
@testable import SessionKit

/// Ends that the user did not request, at a backend whose logout needs the access token.
@Suite("A session: ends that leave valid tokens at the server", .timeLimit(.minutes(5)))
struct EndRevocationTests {
  private static let limit: Int64 = 600_000

  private static func wire() throws -> HTTPBackend {
    var wire = try AnswerBench.camelCaseWire()
    wire.profile = nil
    wire.revocation = .post("api/auth/logout", body: .none, accessToken: .bearer)
    wire.requestFields.userName = "email"
    return wire
  }

  private static func tokens(_ number: Int) -> String {
    #"{"accessToken":"A\#(number)","refreshToken":"R\#(number)","expiresIn":7200,"#
      + #""user":{"id":42}}"#
  }

  private static func policy(_ end: SessionPolicy.End) -> SessionPolicy {
    var policy = SessionPolicy.bench
    policy.limits.requiredItems = [.token]
    (policy.ending.onRejection, policy.ending.inactivityLimit) = (end, .milliseconds(limit))
    (policy.ending.onExhaustion, policy.refresh.attempts) = (.end(end), 1)
    return policy
  }

  private func signedIn(_ end: SessionPolicy.End) async throws -> (AnswerBench, Session) {
    let backend = try AnswerBench(Self.wire())
    backend.answer(Self.tokens(1))
    let session = try await backend.open(Self.policy(end))
    try await session.login(.password("ana@tik.test", "secreta-9"))
    return (backend, session)
  }

  /// The access tokens of the logout requests.
  private func revoked(_ backend: AnswerBench) -> [String] {
    backend.requests.filter { $0.url.lastPathComponent == "logout" }
      .compactMap { $0.header("Authorization") }
  }

  private func outcomes(_ backend: AnswerBench) throws -> [RevocationOutcome] {
    try backend.bench.records().compactMap { record in
      guard case .note(.revocationSettled(let settled)) = record.content else { return nil }
      return settled.outcome
    }
  }

  private func expectRevoked(_ backend: AnswerBench, _ token: String = "A1") async throws {
    try await eventually("the server is told") { try outcomes(backend) == [.revoked] }
    #expect(revoked(backend) == ["Bearer \(token)"])
    try await eventually("what it needed is gone") {
      try !backend.bench.files().contains("revocation")
    }
    #expect(try !backend.bench.files().contains("token"))
  }

  @Test(
    "OUT-6 POL-5 an end by inactivity revokes the tokens, and an expired session keeps the user",
    arguments: [SessionPolicy.End.keep, .clear])
  func inactivity(end: SessionPolicy.End) async throws {
    let (backend, session) = try await signedIn(end)
    backend.answer(200, "{}")
    backend.bench.clock.advance(by: .milliseconds(Self.limit))
    _ = await failure { () async throws(SessionError) in try await session.accessToken() }
    #expect(session.state.kind == (end == .keep ? .expired : .unauthenticated))
    try await expectRevoked(backend)
    #expect(try backend.bench.files().contains("user") == (end == .keep))
    try await session.close()
  }

  /// Stores a token of a refresh that no event announces.
  private func storeUnannounced(_ backend: AnswerBench, _ session: Session) async throws {
    let time = backend.bench.clock.now().time
    let facts = TokenMetadata(
      generation: Generation(2), issuedAt: time, expiresAt: time.advanced(by: 900_000),
      isRefreshable: true)
    let event = SessionEvent.refreshSucceeded(
      SessionEvent.RefreshSucceeded(
        token: facts, trigger: .schedule, attempt: 1, isRotated: true, request: 0))
    let journal = session.engine.log.identifier.description
    try await session.engine.vault.write(
      StoredToken(
        journal: journal, facts: facts, access: Secret("A2"), refresh: Secret("R2"),
        announcement: event, at: time, path: backend.bench.journal))
  }

  @Test(
    "OUT-6 REF-7 a logout revokes the newer token that a dead process stored and did not journal"
  )
  func unannounced() async throws {
    let (backend, session) = try await signedIn(.keep)
    try await storeUnannounced(backend, session)
    backend.answer(200, "{}")
    #expect(try await session.logout() == .success)
    try await expectRevoked(backend, "A2")
    try await session.close()
  }
}
