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

  @Test(
    "OUT-6 LOG-6 a refresh that finds an inactive or deleted account revokes the tokens",
    arguments: ["USER_INACTIVE", "USER_DELETED"])
  func account(code: String) async throws {
    let (backend, session) = try await signedIn(.keep)
    backend.answer(403, #"{"error":{"code":"\#(code)"}}"#)
    backend.answer(200, "{}")
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(session.state.kind == (code == "USER_DELETED" ? .unauthenticated : .expired))
    try await expectRevoked(backend)
    try await session.close()
  }

  @Test("OUT-6 POL-2 an end after exhausted attempts revokes the tokens")
  func exhausted() async throws {
    let (backend, session) = try await signedIn(.keep)
    backend.answer(503, "")
    backend.answer(200, "{}")
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(session.state.kind == .expired)
    try await expectRevoked(backend)
    try await session.close()
  }

  @Test("OUT-6 after a refused refresh token nothing is revoked")
  func refused() async throws {
    let (backend, session) = try await signedIn(.keep)
    backend.answer(401, "")
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(session.state.kind == .expired)
    try await session.close()
    #expect(try backend.bench.records().allSatisfy { $0.name != "revocationPending" })
    #expect(revoked(backend) == [])
  }

  @Test("OUT-6 RES-1 an end because of a missing item revokes the tokens that are still stored")
  func itemMissing() async throws {
    let (backend, session) = try await signedIn(.keep)
    try await session.close()
    var policy = Self.policy(.keep)
    policy.limits.requiredItems = [.token, .user]
    try FileManager.default.removeItem(atPath: backend.bench.secrets + "/user")
    backend.answer(200, "{}")
    let again = try await backend.open(policy)
    for _ in 0..<3 {
      backend.bench.clock.advance(by: .seconds(3))
      await again.retry()
    }
    #expect(again.state.kind == .expired)
    try await expectRevoked(backend)
    try await again.close()
  }

  @Test("OUT-6 after a death between such an end and its wipe, the next opening wipes and revokes")
  func killed() async throws {
    let (backend, session) = try await signedIn(.keep)
    let token = try Data(contentsOf: URL(filePath: backend.bench.secrets + "/token"))
    backend.answer(503, "")
    backend.bench.clock.advance(by: .milliseconds(Self.limit))
    _ = await failure { () async throws(SessionError) in try await session.accessToken() }
    try await session.close()
    try backend.bench.cutJournal(before: "revocationSettled")
    let revocation = backend.bench.secrets + "/revocation"
    if FileManager.default.fileExists(atPath: revocation) {
      try FileManager.default.removeItem(atPath: revocation)
    }
    try token.write(to: URL(filePath: backend.bench.secrets + "/token"))
    let sent = revoked(backend).count
    backend.answer(200, "{}")
    let again = try await backend.open(Self.policy(.keep))
    #expect(again.state.kind == .expired)
    try await eventually("the server is told") { try outcomes(backend).contains(.revoked) }
    #expect(revoked(backend).count == sent + 1)
    try await eventually("only the user is left") { try backend.bench.files() == ["user"] }
    try await again.close()
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

  @Test("OUT-6 REF-7 after a death between such a logout and its wipe, the newer token is revoked")
  func unannouncedAndKilled() async throws {
    let (backend, session) = try await signedIn(.keep)
    try await storeUnannounced(backend, session)
    let time = backend.bench.clock.now().time
    let drafts = [
      JournalDraft(.event(.logout(SessionEvent.Logout(reason: .user))), at: time),
      JournalDraft(.note(.revocationPending(Generation(1))), at: time),
    ]
    _ = try session.engine.log.transact { (_) throws(Never) in (drafts, ()) }
    backend.answer(200, "{}")
    let again = try await backend.open(Self.policy(.keep))
    #expect(again.state == .unauthenticated)
    try await expectRevoked(backend, "A2")
    try await again.close()
    try await session.close()
  }
}
