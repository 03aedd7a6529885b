@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

/// A login that brings no refresh token from a backend that can refresh; mostly the path of the
/// token is wrong.
@Suite("A session: a login without a refresh token")
struct MissingRefreshTokenTests {
  /// The warnings of a session that has logged in with this backend.
  private func warnings(_ change: (inout HTTPBackend) -> Void) async throws -> [SessionReport] {
    let bench = try Bench()
    var configuration = bench.configuration()
    change(&configuration.http)
    let session = try await Session.open(configuration)
    let reports = session.reports
    try await session.login(bench.credentials)
    #expect(session.isAuthenticated)
    try await session.close()
    var found: [SessionReport] = []
    for try await report in reports where report.isWarning { found.append(report) }
    return found
  }

  @Test("LOG-11 a wrong path for the refresh token is reported at login")
  func wrongPath() async throws {
    let found = try await warnings { $0.response.refreshToken = ["refreshToken"] }
    #expect(found.map(\.name) == ["session.warning.refreshTokenMissing"])
    #expect(found.first?.description.contains("refreshToken") == true)
  }

  @Test(
    "REF-16 a refresh token that cannot outlive a night is reported at login",
    arguments: [true, false])
  func short(isShort: Bool) async throws {
    let bench = try Bench()
    bench.server.failNext(
      .login, with: .patch(["refresh_expires_in": isShort ? 43_199 : 43_200]))
    let session = try await bench.open()
    let reports = session.reports
    try await session.login(.sample)
    try await session.close()
    var found: [String] = []
    for try await report in reports where report.isWarning { found.append(report.name) }
    #expect(found == (isShort ? ["session.warning.refreshTokenShort"] : []))
  }

  @Test("LOG-11 LOG-10 a login without a refresh token fails and is revoked if configured so")
  func fails() async throws {
    let bench = try Bench()
    var configuration = bench.configuration()
    configuration.http.response.refreshToken = ["refreshToken"]
    configuration.http.missingRefreshToken = .fails
    let session = try await Session.open(configuration)
    let error = await failure { () async throws(SessionError) in
      try await session.login(bench.credentials)
    }
    #expect(error.failure == .unreadableAnswer)
    #expect(error?.description.contains("be read: refreshToken is missing") == true)
    #expect(session.state == .unauthenticated)
    await eventually("its tokens are revoked") { bench.server.count(of: .logout) == 1 }
    #expect(try bench.eventNames().isEmpty)
    try await session.close()
  }

  @Test("LOG-11 nothing is reported if there is a refresh token or no refresh endpoint")
  func silent() async throws {
    #expect(try await warnings { _ in }.isEmpty)
    #expect(try await warnings { $0.refresh = nil }.isEmpty)
  }
}
