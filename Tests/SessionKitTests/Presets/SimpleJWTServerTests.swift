import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionTestKit
import Testing

/// The backend that runs for these tests, if there is one.
private enum SimpleJWTServer {
  static let place = ProcessInfo.processInfo.environment["SESSION_SIMPLEJWT"]
    .flatMap { URL(string: $0) }
}

/// The configuration in `Specs/Presets.md`, with its real backend.
///
/// The backend has rotation and blacklist. `Tools/thirdparty/run` installs it, starts it and runs
/// these tests.
@Suite(
  "djangorestframework-simplejwt", .serialized, .enabled(if: SimpleJWTServer.place != nil),
  .timeLimit(.minutes(5)))
struct SimpleJWTServerTests {
  private static let ana = Credential.password("ana", "correct horse")

  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "simplejwt-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// A session whose journal and secrets are in a folder of that name.
  private func open(_ name: String = "own", clock: any SessionClock = SystemClock())
    async throws -> Session
  {
    let home = folder.appending(path: name)
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    return try await Session.open(
      SessionConfiguration(
        journal: home.appending(path: "a.journal").path,
        secrets: FileSecretStore(folder: home.appending(path: "secrets").path),
        backend: SimpleJWTExample.backend(try #require(SimpleJWTServer.place)), clock: clock))
  }

  /// A session of its own with the files of a device backup.
  private func restored() async throws -> Session {
    try FileManager.default.copyItem(
      at: folder.appending(path: "own"), to: folder.appending(path: "backup"))
    return try await open("backup")
  }

  private func get(_ path: String, with token: AccessToken? = nil) async throws -> HTTPResponse {
    let url = try #require(SimpleJWTServer.place).appending(path: path)
    let headers = token.map { [HTTPHeader("Authorization", "Bearer \($0.plaintext)")] } ?? []
    return try await URLSessionTransport().send(
      HTTPRequest(method: "GET", url: url, headers: headers, body: nil, timeout: .seconds(60)))
  }

  /// The number of refresh requests that the backend received.
  private func refreshes() async throws -> Int {
    let body = try await get("asked/").body
    let counts = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Int]
    return try #require(counts)["/api/token/refresh/"] ?? 0
  }

  @Test("POL-4 LOG-4 a login succeeds, and the backend accepts the token")
  func signsIn() async throws {
    let session = try await open()
    try await session.login(Self.ana)
    let token = try #require(session.currentToken)
    #expect(session.currentUser?.id == "1")
    #expect(!session.isTokenExpired && session.canRefreshToken)
    let answer = try await get("me/", with: token)
    #expect(answer.status == 200)
    #expect(String(decoding: answer.body, as: UTF8.self).contains("ana"))
    #expect(try await get("me/").status == 401)
    try await session.close()
  }

  @Test("LOG-3 a wrong password is reported as such, and does not log in")
  func wrongPassword() async throws {
    let session = try await open()
    let wrong = Credential.password("ana", "wrong horse")
    let error = await failure { () throws(SessionError) in try await session.login(wrong) }
    guard case .invalidCredentials = error.failure else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(session.state == .unauthenticated)
    try await session.close()
  }

  @Test("REF-5 a refresh rotates the token each time, and a replaced token is refused")
  func rotates() async throws {
    let session = try await open()
    try await session.login(Self.ana)
    let backup = try await restored()
    for generation in 2...4 as ClosedRange<UInt64> {
      let token = try await session.refresh()
      #expect(token.generation == Generation(generation))
      #expect(try await get("me/", with: token).status == 200)
    }
    // The token in the backup was blacklisted by the first refresh.
    let error = await failure { () throws(SessionError) in try await backup.refresh() }
    #expect(error?.isExpired == true)
    #expect(backup.state.kind == .expired)
    try await session.refresh()
    try await session.close()
  }

  @Test("REF-1 a token is refreshed by itself before the end that its claims state")
  func proactive() async throws {
    let clock = ManualClock(time: SystemClock().now().time)
    let session = try await open(clock: clock)
    try await session.login(Self.ana)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(149))
    #expect(session.currentToken?.generation == Generation(1))
    clock.advance(by: .seconds(2))
    var events = session.events(after: 0).makeAsyncIterator()
    while let event = try await events.next(), event.event.kind != .refreshSucceeded {}
    #expect(session.currentToken?.generation == Generation(2))
    try await session.close()
  }

  @Test("REF-3 several sessions on one journal refresh an expired token once for all callers")
  func shared() async throws {
    let longAgo = ManualClock(time: SystemClock().now().time.advanced(by: -3_600_000))
    let first = try await open(clock: longAgo)
    try await first.login(Self.ana)
    try await first.close()
    let before = try await refreshes()
    var sessions: [Session] = []
    for _ in 0..<3 { sessions.append(try await open()) }
    let generations = try await withThrowingTaskGroup(of: Generation.self) { group in
      for session in sessions {
        for _ in 0..<10 { group.addTask { try await session.accessToken().generation } }
      }
      return try await group.reduce(into: [Generation]()) { $0.append($1) }
    }
    #expect(generations == Array(repeating: Generation(2), count: 30))
    #expect(try await refreshes() == before + 1)
    for session in sessions { try await session.close() }
  }

  @Test("OUT-1 after a logout the backend refuses the refresh token")
  func logsOut() async throws {
    let session = try await open()
    try await session.login(Self.ana)
    let backup = try await restored()
    #expect(try await session.logout() == .success)
    #expect(session.state == .unauthenticated)
    let error = await failure { () throws(SessionError) in try await backup.refresh() }
    #expect(error?.isExpired == true)
    try await session.close()
    try await backup.close()
  }
}
