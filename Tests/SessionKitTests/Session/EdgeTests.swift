import Dispatch
import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("A session: other processes and edge cases")
struct EdgeTests {
  @Test("RES-3 a peer's token that cannot be read for a moment does not end the session")
  func lockedReload() async throws {
    let bench = try Bench()
    let mine = MemorySecretStore()
    let one = try await bench.open(.bench, store: mine)
    try await one.login(bench.credentials)
    let isAvailable = Mutex(true)
    let gated = InterceptedStore(mine) { (_, item) throws(SecretStoreError) in
      guard isAvailable.withLock({ $0 }) else { throw .unavailable(item: item, place: "test") }
    }
    let two = try await bench.open(.bench, store: gated)
    try await one.refresh()
    isAvailable.withLock { $0 = false }
    let first = await failure { () async throws(SessionError) in try await two.refresh() }
    isAvailable.withLock { $0 = true }
    await bench.clock.waitForSleepers(2)
    bench.clock.advance(by: .seconds(1))
    await eventually("the restore") { two.activity == .idle }
    try await two.refresh()
    #expect(first?.isLoggedOut != true, "the session is authenticated; the store was locked")
    #expect(two.state.kind == .authenticated)
    #expect(try !bench.eventNames().contains("logout"))
  }

  @Test("the profile is that of the user whom another process logged in")
  func currentUser() async throws {
    let (bench, bob) = (try Bench(users: [.sample, .bob]), LoopbackUser.bob)
    let configuration = bench.configuration(.bench, store: MemorySecretStore())
    let one = try await Session.open(configuration)
    try await one.login(bench.credentials)
    let two = try await Session.open(configuration)
    try await one.logout()
    try await one.login(.password(of: bob))
    // The refresh was requested in the first user's session, so another user's token is no answer
    // to it.
    let told = await failure { () async throws(SessionError) in try await two.refresh() }
    #expect(told?.isLoggedOut == true)
    #expect(two.state.user == Identifier(bob.id))
    #expect(two.currentUser?.id == Identifier(bob.id), "\(two.currentUser?.displayName ?? "nil")")
  }

  @Test("OUT-1 a logout returns although another login and logout happened meanwhile")
  func logoutReturns() async throws {
    let bench = try Bench()
    var policy = SessionPolicy.bench
    // Both requests are pending at once, also on a slow machine.
    policy.ending.revocationTimeout = .seconds(600)
    let session = try await bench.signedIn(policy)
    let gate = bench.server.hold(.logout)
    let one = Task { try await session.logout() }
    #expect(await bench.server.received(.logout))
    try await session.login(bench.credentials)
    let two = Task { try await session.logout() }
    #expect(await bench.server.received(.logout, count: 2))
    gate.open()
    #expect(try await two.value == .success)
    #expect(try await one.value == .success)
    try await session.close()
  }

  @Test("JRN-3 a record that this version cannot apply makes the journal unusable")
  func unusable() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let other = try Journal.open(at: bench.journal)
    _ = try other.append([JournalDraft(kind: 0x7A, payload: Array(repeating: 0, count: 16))])
    try other.close()
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    guard case .unusableJournal = error.failure else {
      Issue.record("says: \(error.map(\.description) ?? "")")
      return
    }
  }

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

  @Test("STA-7 a slow subscriber receives all events although the session is closed")
  func behindAtClose() async throws {
    let bench = try Bench()
    let session = try await Session.open(bench.configuration(eventBuffer: 2))
    let events = session.events
    try await session.login(bench.credentials)
    for _ in 0..<9 { try await session.refresh() }
    try await session.close()
    var count = 0
    for try await _ in events { count += 1 }
    #expect(count == 10)
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

  @Test("a refused switch and a deleted account have distinct errors")
  func errors() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    bench.server.failNext(.switchContext, with: .status(401, code: "TOKEN_EXPIRED"))
    let coordinator = bench.coordinator
    let error = await failure { () async throws(SessionError) in
      try await session.switchContext(to: coordinator)
    }
    #expect(error == .unauthorized(code: "TOKEN_EXPIRED"))
    bench.server.failNext(.refresh, with: .status(403, code: "USER_DELETED"))
    let deleted = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(deleted?.accountStatus == .deleted && deleted?.serverCode == "USER_DELETED")
    #expect(deleted?.status == 403 && deleted?.reason == .loggedOut(.userDeleted))
    try await session.close()
  }
}
