import Foundation
import SessionChanges
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

/// An offline app with real processes, a real server and real deaths.
@Suite("The whole story of an offline app, its process killed in between", .timeLimit(.minutes(5)))
struct OfflineStoryTests {
  private struct Sent: Codable, Equatable {
    var what: String
    var text: String
  }

  private static let other = LoopbackUser(
    id: "7c1d2f7e-52f0-4f0a-9f3c-1d2b3c4d5e6f", email: "eve.other@school.test",
    password: "another-horse-8", firstName: "Eve", lastName: "Other", contexts: [.teacher])

  private func key(_ number: Int) -> String {
    String(format: "00000000-0000-4000-8000-%012d", number)
  }

  /// A process whose app works offline, at an address without a server or at the server.
  private func start(_ bench: ProcessBench, isOnline: Bool) async throws -> WorkerProcess {
    let addresses = [bench.server.baseURL.absoluteString, "http://127.0.0.1:1"]
    // Tokens are bound to their backend, so each address is a former one of the other.
    let (address, former) = isOnline ? (addresses[0], addresses[1]) : (addresses[1], addresses[0])
    let worker = try WorkerProcess([
      bench.journal, bench.secrets, address, "offline=1", "former=\(former)",
    ])
    let answer = try await worker.ask("open")
    #expect(answer.error == nil, "\(answer)")
    return worker
  }

  private func login(_ user: LoopbackUser) -> String { "login \(user.email) \(user.password)" }

  @Test(
    """
    SYN-1 SYN-2 SYN-3 OUT-3 STA-6 JRN-2 ten offline changes reach the server in order and once, despite \
    three deaths, an expiry and another user
    """)
  func story() async throws {
    let bench = try ProcessBench(users: [.sample, Self.other])
    let server = bench.server

    var worker = try await start(bench, isOnline: true)
    #expect(try await worker.ask(login(.sample)).state == "authenticated")
    try await worker.end()

    // An address without a server.
    worker = try await start(bench, isOnline: false)
    let changes = [
      "create list/1 Trip", "create task/1 Tent", "update task/1 Big_tent", "create task/2 Stove",
      "delete task/2 -", "update task/7 Passport", "delete task/7 -", "POST /share Kim",
      "update list/1 To_the_lake", "update list/1 To_the_sea",
    ]
    for (index, change) in changes.enumerated() {
      let answer = try await worker.ask("change \(change) \(key(index + 1))")
      #expect(answer.error == nil && answer.state == "authenticated", "\(answer)")
    }
    #expect(try await worker.ask("sync").status == 0, "nobody answers")
    let kept = try await worker.ask("logout")
    #expect(kept.error?.contains("5") == true && kept.state == "authenticated", "\(kept)")
    try await worker.end()
    #expect(server.changes.isEmpty)

    // The session has ended at the server meanwhile.
    server.revokeAllTokens()
    worker = try await start(bench, isOnline: true)
    #expect(try await worker.ask("refresh").state == "expired")
    let refused = try await worker.ask("change create task/9 Late \(key(99))")
    #expect(refused.error?.contains("expired") == true, "\(refused)")
    #expect(try await worker.ask("sync").status == 0)
    let stranger = try await worker.ask(login(Self.other))
    #expect(stranger.error != nil && stranger.state == "expired", "\(stranger)")
    #expect(server.count(of: .changes) == 0, "none of them left for another user")
    #expect(try await worker.ask(login(.sample)).state == "authenticated")

    // It dies after the server has accepted the first change, before its response is read.
    let gate = server.hold(.changes, at: .afterActing)
    try worker.say("sync")
    #expect(await server.received(.changes))
    try await worker.end()
    gate.open()

    worker = try await start(bench, isOnline: true)
    let answer = try await worker.ask("sync")
    #expect(answer.status == 5, "\(answer)")
    let end = try await worker.ask("logout")
    #expect(end.error == nil && end.state == "unauthenticated", "\(end)")
    try await worker.end()

    let taken = try server.changes.map { change in
      try JSONDecoder().decode(Sent.self, from: Data(change.body))
    }
    #expect(
      taken == [
        Sent(what: "create list/1", text: "Trip"), Sent(what: "create task/1", text: "Big_tent"),
        Sent(what: "delete task/7", text: ""), Sent(what: "POST /share", text: "Kim"),
        Sent(what: "update list/1", text: "To_the_sea"),
      ])
    #expect(server.changes.allSatisfy { $0.userID == LoopbackUser.sample.id })
    let keys = [1, 1, 3, 7, 8, 10].map(key)
    let arrived = server.calls.filter { $0.endpoint == .changes }
      .compactMap { $0.headers["idempotency-key"] }
    #expect(arrived == keys, "the first came again, with its own key")
    try bench.check()
    let log = try await ChangeLog.open(at: bench.journal + ".changes")
    #expect(log.queue.pending.isEmpty && log.queue.failures.isEmpty)
    try await log.close()
  }
}
