import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("A session: a logout on this device only")
struct LocalLogoutTests {
  @Test("OUT-7 a local logout journals the event and wipes the items, and revokes nothing")
  func local() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let token = try #require(session.currentToken)
    #expect(try await session.logout(.thisDeviceOnly) == .success)
    #expect(session.state == .unauthenticated && session.currentToken == nil)
    #expect(session.lastEnd?.reason == .loggedOut(.user))
    #expect(try bench.files().isEmpty)
    #expect(try bench.records().map(\.name) == ["opened", "login", "logout"])
    #expect(try await session.logout(.thisDeviceOnly) == .alreadyLoggedOut)
    try await session.close()

    let again = try await bench.open()
    #expect(again.state == .unauthenticated)
    await again.retry()
    try await again.close()
    #expect(bench.server.count(of: .logout) == 0)
    // The server still accepts the token of the session.
    let request = HTTPRequest(
      method: "GET", url: bench.server.baseURL.appending(path: "materials"),
      headers: [HTTPHeader("Authorization", "Bearer \(token.plaintext)")])
    #expect(try await URLSessionTransport().send(request).status == 200)
  }

  @Test("OUT-7 OUT-3 pending changes prevent a local logout, unless they may be discarded")
  func pendingChanges() async throws {
    let bench = try Bench()
    var configuration = bench.configuration()
    configuration.add(host: SessionHooks(pendingChanges: { 2 }))
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    let error = await failure { () async throws(SessionError) in
      try await session.logout(.thisDeviceOnly)
    }
    #expect(error == .pendingChanges(2) && session.isAuthenticated)
    #expect(try await session.logout(.thisDeviceOnly, discardingPendingChanges: true) == .success)
    #expect(bench.server.count(of: .logout) == 0)
    try await session.close()
  }

  @Test("OUT-7 OUT-4 the late response to a refresh is neither stored nor revoked")
  func lateResponse() async throws {
    let bench = try Bench { $0.rotatesRefreshTokens = true }
    let session = try await bench.signedIn()
    let gate = bench.server.hold(.refresh)
    let refresh = Task { try await session.refresh() }
    #expect(await bench.server.received(.refresh))
    #expect(try await session.logout(.thisDeviceOnly) == .success)
    _ = await #expect(throws: SessionError.self) { try await refresh.value }
    gate.open()
    #expect(await bench.server.answered(.refresh))
    try await session.close()
    #expect(try bench.files().isEmpty)
    #expect(try bench.eventNames() == ["login", "logout"])
    #expect(bench.server.count(of: .logout) == 0)
  }

  @Test("OUT-7 OUT-1 the pending revocation of an earlier logout is still sent")
  func earlier() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    bench.server.failNext(.logout, with: .status(503))
    #expect(try await session.logout() == .partial(.serverNotTold(status: 503)))
    try await session.login(bench.credentials)
    #expect(try await session.logout(.thisDeviceOnly) == .success)
    try await session.close()
    let again = try await bench.open()
    #expect(await bench.server.answered(.logout, count: 2))
    try await eventually("the settlement") {
      try bench.records().last?.name == "revocationSettled" && bench.files().isEmpty
    }
    try await again.close()
    #expect(bench.server.count(of: .logout) == 2)
  }
}
