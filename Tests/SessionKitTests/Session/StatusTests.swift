import Foundation
import SessionChanges
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Synchronization
import Testing

@testable import SessionHTTP
@testable import SessionKit

/// The age of the server's statement about the user (LOG-6, SYN-4).
@Suite("A session: the time of the last status change")
struct StatusTests {
  private static let login =
    #"{"accessToken":"A1","refreshToken":"R1","expiresIn":900,"user":{"id":42}}"#
  private static let credentials = Credential.password("ana@tik.test", "secreta-9")

  private func wire() throws -> HTTPBackend { try AnswerBench.camelCaseWire() }

  private func profile(_ status: String, _ time: String) -> String {
    #"{"id":42,"email":"\#(status)@tik.test","status":"\#(status)","lastStatusChangedAt":\#(time)}"#
  }

  @Test(
    "LOG-6 a time is read in RFC 3339, or in seconds or milliseconds since 1970",
    arguments: [
      (#""2026-11-20T10:00:00Z""#, 1_795_168_800_000),
      (#""2026-11-20T10:00:00.25Z""#, 1_795_168_800_250),
      (#""2026-11-20T11:00:00+01:00""#, 1_795_168_800_000),
      ("1795168800", 1_795_168_800_000), ("1795168800250", 1_795_168_800_250),
      (#""1795168800""#, 1_795_168_800_000), ("null", nil),
    ] as [(String, Int64?)])
  func times(text: String, milliseconds: Int64?) throws {
    let body = Array(profile("active", text).utf8)
    let found = try wire().readProfileResponse(HTTPResponse(status: 200, body: body))
    #expect(found.changedAt?.milliseconds == milliseconds)
    let snake = profile("active", text).replacing(
      "lastStatusChangedAt", with: "last_status_changed_at")
    #expect(
      try wire().readProfileResponse(HTTPResponse(status: 200, body: Array(snake.utf8))).changedAt
        == found.changedAt)
  }

  @Test("LOG-6 an unreadable time is an error, unless the user is inactive or deleted")
  func noTime() throws {
    for text in [#""yesterday""#, "true", "{}", "1e300"] {
      let body = Array(profile("active", text).utf8)
      let error = #expect(throws: AnswerFailure.self) {
        try wire().readProfileResponse(HTTPResponse(status: 200, body: body))
      }
      #expect(
        error?.problem?.contains("lastStatusChangedAt") == true,
        "\(text): \(String(describing: error))")
      let inactive = Array(profile("inactive", text).utf8)
      let found = try wire().readProfileResponse(HTTPResponse(status: 200, body: inactive))
      #expect(found.failure?.kind == .userInactive && found.changedAt == nil)
    }
  }

  @Test(
    "LOG-6 SYN-4 a status older than the known one ends no login, and a newer one is reported")
  func hooks() async throws {
    let backend = try AnswerBench(wire())
    let told = Mutex<[StatusChange]>([])
    let known = Mutex<Timestamp?>(Timestamp(milliseconds: 5_000))
    var configuration = backend.bench.configuration(.bench)
    configuration.http = backend.wire
    configuration.http.transport = backend
    configuration.add(
      host: SessionHooks(
        knownStatus: { user in user == "42" ? known.withLock { $0 } : nil },
        statusChanged: { change in
          told.withLock { $0.append(change) }
          known.withLock { $0 = change.changedAt }
        }))
    configuration.policy.limits.profileCheck = .afterLoginAndLaunch
    var session = try await Session.open(configuration)
    backend.answer(Self.login)
    backend.answer(200, profile("deleted", "4"))
    try await session.login(Self.credentials)
    #expect(session.isAuthenticated)
    try await session.close()
    #expect(told.withLock { $0 }.isEmpty)

    backend.answer(200, profile("active", "6"))
    session = try await Session.open(configuration)
    await eventually("it is told") { told.withLock { $0.count } == 1 }
    #expect(
      told.withLock { $0.first }
        == StatusChange(
          user: "42", changedAt: Timestamp(milliseconds: 6_000),
          known: Timestamp(milliseconds: 5_000)))
    #expect(session.currentUser?.email == "active@tik.test", "a newer one is shown")
    try await session.close()

    // Later than the response's own Date: the time is ignored, and the status counts.
    let date = HTTPHeader("Date", "Thu, 01 Jan 1970 00:00:10 GMT")
    backend.answer(200, profile("inactive", "400"), headers: [date])
    session = try await Session.open(configuration)
    await eventually("it ends") { session.state.kind == .expired }
    #expect(told.withLock { $0.count } == 1 && known.withLock { $0 }?.milliseconds == 6_000)
    try await session.close()
  }

  @Test(
    "SYN-4 a change log keeps the newest time for each user, and still calls the app's hooks")
  func settled() async throws {
    let bench = try ChangeBench()
    let log = try await bench.open()
    var configuration = try Bench().configuration(.bench)
    let told = Mutex<[Identifier]>([])
    configuration.add(
      host: SessionHooks(
        knownStatus: { $0 == "u-3" ? Timestamp(milliseconds: 30) : nil },
        statusChanged: { change in told.withLock { $0.append(change.user) } }))
    configuration.attach(log)
    let (known, tell) = (configuration.lastKnownStatus(of:), configuration.accountStatusChanged(_:))
    for (user, time) in [("u-1", 10), ("u-2", 5), ("u-1", 9), ("u-3", 20)] as [(Identifier, Int64)]
    {
      await tell(StatusChange(user: user, changedAt: Timestamp(milliseconds: time), known: nil))
    }
    #expect(await known("u-1")?.milliseconds == 10)
    #expect(await known("u-2")?.milliseconds == 5)
    #expect(await known("u-3")?.milliseconds == 30, "the app knows better")
    #expect(await known("u-4") == nil)
    #expect(told.withLock { $0 } == ["u-1", "u-2", "u-1", "u-3"])
    #expect(log.statusChangedAt(scope: "user/u-1")?.milliseconds == 10 && log.problem == nil)
    try await log.close()
    await tell(StatusChange(user: "u-1", changedAt: Timestamp(milliseconds: 11), known: nil))
    #expect(log.problem == .journal(.closed(path: bench.path)))
  }
}
