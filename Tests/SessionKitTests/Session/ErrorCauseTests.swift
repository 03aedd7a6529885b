import Foundation
import SessionChanges
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionMessages
import SessionTestKit
import Testing

/// What the error of a call says about its cause.
@Suite("A session: errors keep the cause")
struct ErrorCauseTests {
  @Test(
    "LOG-13 a refused refresh throws the reason of the end, and the server's status and code",
    arguments: [SessionPolicy.bench, .keeping])
  func refusedRefresh(policy: SessionPolicy) async throws {
    let bench = try Bench()
    let session = try await bench.signedIn(policy)
    bench.server.failNext(.refresh, with: .status(401, code: "TOKEN_REUSED"))
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    for word in ["refreshRejected", "401", "TOKEN_REUSED"] {
      #expect(error?.description.contains(word) == true, "\(word)")
    }
    #expect(error?.code == (policy.ending.onRejection == .keep ? .expired : .loggedOut))
    #expect(error?.reason == .expired(.refreshRejected))
    #expect(error?.status == 401 && error?.serverCode == "TOKEN_REUSED")
    guard policy.ending.onRejection == .keep else {
      try await session.close()
      return
    }
    // A later caller receives the same reason.
    let later = await failure { () async throws(SessionError) in try await session.refresh() }
    for word in ["refreshRejected", "401", "TOKEN_REUSED"] {
      #expect(later?.description.contains(word) == true, "\(word)")
    }
    try await session.close()
    // After another opening, only the reason in the journal's state is known.
    let again = try await bench.open(policy)
    let last = await failure { () async throws(SessionError) in try await again.refresh() }
    #expect(last?.code == .expired && last?.reason == .expired(.refreshRejected))
    #expect(last?.status == nil && last?.serverCode == nil)
    try await again.close()
  }

  @Test("POL-8 the journal holds a configured code with its meaning")
  func configuredCode() async throws {
    let bench = try Bench()
    var configuration = bench.configuration(.keeping)
    configuration.http.errorCodes = ["renewalReused": .refreshTokenReused]
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    bench.server.failNext(.refresh, with: .status(400, code: "renewalReused"))
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error?.description.contains("rejected 400 renewalReused") == true)
    #expect(session.state.kind == .expired)
    try await session.close()
    let failed = try bench.records().compactMap { record -> SessionEvent.RefreshFailed? in
      guard case .refreshFailed(let failed) = record.event else { return nil }
      return failed
    }
    #expect(failed.map(\.failure.serverCode) == ["renewalReused"])
    #expect(failed.map(\.configuredMeaning) == [.refreshTokenReused])
  }

  @Test("LOG-2 LOG-13 the local limit of logins is not reported as a 429 of the server")
  func localLimit() async throws {
    let bench = try Bench()
    var policy = SessionPolicy.bench
    policy.limits.loginsPerMinute = 1
    let session = try await bench.open(policy)
    bench.server.failNext(.login, with: .status(401, code: "INVALID_CREDENTIALS"))
    for isLimited in [false, true] {
      let error = await failure { () async throws(SessionError) in
        try await session.login(bench.credentials)
      }
      guard isLimited else { continue }
      #expect(error?.description.contains("429") == false)
      #expect(error?.description.contains("Nothing was sent") == true)
      #expect(error?.advice == .wait(.seconds(60)))
      #expect(error?.code == .rateLimited && error?.status == nil)
      #expect(error?.retryAfter == .seconds(60))
    }
    #expect(bench.server.count(of: .login) == 1)
    try await session.close()
  }

  @Test("OUT-3 LOG-13 the text about one unsent change is in the singular")
  func oneChange() {
    #expect("\(SessionError.pendingChanges(1))".hasPrefix("1 change has not been sent yet"))
    #expect("\(SessionError.pendingChanges(2))".hasPrefix("2 changes have not been sent yet"))
    #expect("\(ChangeLogError.othersChanges(1))".hasPrefix("1 change of another user is"))
    #expect("\(ChangeLogError.full(count: 1, bytes: 9))".hasPrefix("1 change of 9 bytes"))
  }
}
