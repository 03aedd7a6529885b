import Foundation
import SessionChanges
import SessionKit
import SessionTestKit
import Testing

@Suite("The README's example of changes")
struct ReadmeChangesExample {
  @Test("SYN-1 SYN-2 OUT-3 compiles and runs")
  func run() async throws {
    let bench = try Bench()
    let (folder, server) = (bench.folder.path, ChangeServer())
    var configuration = bench.configuration()
    let credentials = bench.credentials
    let json = Array("{\"title\":\"Exam\"}".utf8)
    // README begins
    let log = try await ChangeLog.open(at: folder + "/changes.journal")
    configuration.attach(log)  // a logout asks for what waits
    let session = try await Session.open(configuration)
    try await session.login(credentials)

    let task = EntityReference("task", "5f1c")
    try await log.add(.create(task, content: json), through: session.gate)  // durable from here
    try await log.add(.update(task, content: json), through: session.gate)  // one `create` is left
    do throws(SessionError) {
      try await session.logout()
    } catch {
      guard let count = error.pendingChanges else { throw error }
      let drained = try await log.drain(through: session.gate) { waiting in
        await server.send(waiting.change)  // its key as the idempotency key; .done, .tryLater …
      }
      print("\(count) waited, \(drained.acknowledged) sent")  // 1 waited, 1 sent
    }
    try await session.logout()
    // README ends
    #expect(server.arrivals.count == 1 && session.state == .unauthenticated)
    #expect(log.queue.unsentCount == 0)
    try await session.close()
    try await log.close()
  }
}

extension ChangeServer {
  fileprivate func send(_ change: Change) async -> SendOutcome { take(change.key) }
}
