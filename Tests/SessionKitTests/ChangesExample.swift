import Foundation
import SessionChanges
import SessionKit
import SessionTestKit
import Testing

@Suite("The article's example of changes")
struct ChangesExample {
  @Test("SYN-1 SYN-2 OUT-3 the example compiles and runs")
  func run() async throws {
    let bench = try Bench()
    let (folder, server) = (bench.folder.path, ChangeServer())
    var configuration = bench.configuration()
    let credentials = bench.credentials
    let json = Array("{\"title\":\"Exam\"}".utf8)
    // PAGE begins
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
        switch waiting.change {  // .done, .tryLater, .refused …
        case .create(let edit): await server.post(edit.entity, edit.content, key: edit.key)
        case .update(let edit): await server.put(edit.entity, edit.content, key: edit.key)
        case .delete(let deletion): await server.delete(deletion.entity, key: deletion.key)
        case .request(let request): await server.send(request)
        }
      }
      print("\(count) waited, \(drained.acknowledged) sent")  // 1 waited, 1 sent
    }
    try await session.logout()
    // PAGE ends
    #expect(server.arrivals.count == 1 && session.state == .unauthenticated)
    #expect(log.queue.unsentCount == 0)
    try await session.close()
    try await log.close()
  }
}

extension ChangeServer {
  fileprivate func post(
    _ entity: EntityReference, _ content: [UInt8], key: Identifier
  ) async -> SendOutcome { take(key) }

  fileprivate func put(
    _ entity: EntityReference, _ content: [UInt8], key: Identifier
  ) async -> SendOutcome { take(key) }

  fileprivate func delete(_ entity: EntityReference, key: Identifier) async -> SendOutcome {
    take(key)
  }

  fileprivate func send(_ request: Change.Request) async -> SendOutcome { take(request.key) }
}
