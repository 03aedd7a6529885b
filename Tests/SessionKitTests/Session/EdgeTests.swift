import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@Suite("A session: other processes and edge cases")
struct EdgeTests {
  @Test("an item that cannot be removed does not prevent the session from opening")
  func leftover() async throws {
    let bench = try Bench()
    let memory = MemorySecretStore()
    try memory.write(.user, Array("{}".utf8))
    try memory.write(
      .context,
      Array(
        #"{"v":1,"journal":"x","fields":{"generation":1,"role":{"id":"a","name":"b"},"permissions":[]}}"#
          .utf8))
    let hooked = InterceptedStore(memory) { (operation, item) throws(SecretStoreError) in
      if operation == .remove { throw .unavailable(item: item, place: "test") }
    }
    do {
      let session = try await bench.open(.bench, store: hooked)
      try await session.close()
    } catch {
      Issue.record("open threw: \(error)")
    }
  }

  @Test("a close ends the event sequences although the journal was deleted")
  func deletedJournal() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let events = session.events
    let reader = Task { for try await _ in events {} }
    try FileManager.default.removeItem(atPath: bench.journal)
    try await session.close()
    try await reader.value
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error == .closed)
  }

  @Test("STO-3 a logout also removes items that were set aside")
  func setAside() async throws {
    // A later logout must not leave the item that was set aside.
    let bench = try Bench()
    let session = try await bench.signedIn()
    let token = session.currentToken?.plaintext ?? ""
    try await session.close()
    let path = bench.secrets + "/token"
    let text = try String(contentsOfFile: path, encoding: .utf8).replacingOccurrences(
      of: #""v":1"#, with: #""v":null"#)
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    let again = try await bench.open()
    try await again.login(bench.credentials)
    try await again.logout()
    try await again.close()
    let files = try bench.files()
    let leftovers = try files.filter {
      try String(contentsOfFile: bench.secrets + "/" + $0, encoding: .utf8).contains(token)
    }
    #expect(leftovers.isEmpty, "\(leftovers)")
  }

  @Test("a response that is too large for the journal is an error, and the session continues")
  func tooLarge() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    let permissions = (0..<150_000).map { number in
      WireValue.string(
        String([letters[number % 62], letters[number / 62 % 62], letters[number / 3844 % 62]]))
    }
    bench.server.failNext(
      .refresh,
      with: .patch([
        "active_context": .object([
          "role_id": "r", "role_name": "n", "permissions": .array(permissions),
        ])
      ]))
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    guard case .unreadableAnswer = error.failure else {
      Issue.record("\(error.map { String(String(describing: $0).prefix(200)) } ?? "no error")")
      return
    }
    #expect(try await session.refresh().generation == Generation(2))
    try await session.close()
  }

  @Test(
    "REF-15 the longest minimum results in one newer token, which the next calls share")
  func longest() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    bench.clock.advance(by: .seconds(5))
    for _ in 0..<3 {
      let token = try await session.accessToken(validFor: .seconds(Int64.max))
      #expect(token.generation == Generation(2))
    }
    #expect(bench.server.count(of: .refresh) == 1)
    try await session.close()
  }

  @Test("REF-11 a close within a limit ends with it, and goes on until the response is stored")
  func limitedClose() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let gate = bench.server.hold(.refresh)
    let refresh = Task { try await session.refresh() }
    #expect(await bench.server.received(.refresh))
    let sleepers = bench.clock.sleeperCount
    let closing = Task { try await session.close(within: .seconds(2)) }
    await bench.clock.waitForSleepers(sleepers + 1)
    bench.clock.advance(by: .seconds(2))
    #expect(try await closing.value == false)
    gate.open()
    #expect(try await refresh.value.generation == Generation(2))
    #expect(try await session.close(within: .seconds(2)))
    #expect(try bench.eventNames() == ["login", "refreshSucceeded"])
  }

  @Test("a close in a cancelled task still closes the session")
  func cancelledClose() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await session.close()
    }
    try await task.value
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error == .closed)
  }
}
