import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Synchronization
import Testing

@_spi(Internals) @testable import SessionChanges
@testable import SessionKit

@Suite("A change log")
struct ChangeLogTests {
  private func caught(_ body: () async throws -> Void) async throws -> ChangeLogError? {
    do {
      try await body()
      return nil
    } catch let error as ChangeLogError {
      return error
    }
  }

  @Test(
    "SYN-2 a reopened log has its changes merged and in order, and sends them in order"
  )
  func order() async throws {
    let bench = try ChangeBench()
    let server = ChangeServer()
    var log = try await bench.open()
    #expect(try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: bench.gate) == 1)
    #expect(try await log.add(ChangeBench.change(.create, 2, key: "k2"), through: bench.gate) == 2)
    #expect(
      try await log.add(ChangeBench.change(.update, 1, key: "k3", text: "new"), through: bench.gate)
        == 2)
    #expect(
      try await log.add(ChangeBench.change(.update, 1, key: "k3", text: "new"), through: bench.gate)
        == 2)
    try await log.close()
    log = try await bench.open()
    let expected = [
      ChangeBench.change(.create, 1, key: "k3", text: "new"),
      ChangeBench.change(.create, 2, key: "k2"),
    ]
    #expect(log.queue.pending.map(\.change) == expected)
    let drained = try await log.drain(through: bench.gate) { server.take($0) }
    #expect(drained.acknowledged == 2 && drained.givenUp == 0 && drained.ending == .empty)
    #expect(server.arrivals == ["k3", "k2"])
    #expect(try await log.pendingCount() == 0)
    #expect(log.queue.failures.isEmpty && log.problem == nil)
  }

  @Test("SYN-2 OUT-3 a change is refused without a session or while another user's are pending")
  func refused() async throws {
    let bench = try ChangeBench()
    let server = ChangeServer()
    let log = try await bench.open()
    try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: bench.gate)
    let change = ChangeBench.change(.create, 2, key: "k2")
    bench.expire()
    #expect(try await caught { try await log.add(change, through: bench.gate) } == .sessionExpired)
    #expect(
      try await log.drain(through: bench.gate) { server.take($0) }.ending == .gateClosed)
    bench.signOut()
    #expect(try await caught { try await log.add(change, through: bench.gate) } == .notSignedIn)
    bench.signIn("u-2")
    #expect(
      try await caught { try await log.add(change, through: bench.gate) } == .othersChanges(1))
    #expect(
      try await caught { _ = try await log.drain(through: bench.gate) { server.take($0) } }
        == .othersChanges(1))
    #expect(server.arrivals.isEmpty, "never sent for another user")
    try await log.discardAll()
    #expect(try await log.add(change, through: bench.gate) == 1)
    #expect(log.queue.owner == "u-2")
  }

  @Test("SYN-2 the log is limited by count, by bytes and by the content of one change")
  func bounded() async throws {
    let bench = try ChangeBench()
    let log = try await bench.open { $0.limits = ChangeLogLimits(count: 2, bytes: 1_000) }
    let gate = bench.gate
    try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: gate)
    let long = ChangeBench.change(.create, 2, key: "k2", text: String(repeating: "x", count: 900))
    let bytes = log.queue.pendingBytes
    #expect(
      try await caught { try await log.add(long, through: gate) } == .full(count: 1, bytes: bytes))
    try await log.add(ChangeBench.change(.create, 2, key: "k2"), through: gate)
    #expect(
      try await caught {
        try await log.add(ChangeBench.change(.create, 3, key: "k3"), through: gate)
      }
        == .full(count: 2, bytes: 2 * bytes))
    // A change that makes the log no fuller is accepted.
    try await log.add(ChangeBench.change(.delete, 2, key: "k4"), through: gate)
    #expect(log.queue.pending.map(\.change.key) == ["k1"])
    let huge = ChangeBench.change(
      .create, 3, key: "k5", text: String(repeating: "x", count: ChangeLogLimits.content + 1))
    #expect(
      try await caught { try await log.add(huge, through: gate) }
        == .contentTooLong(bytes: ChangeLogLimits.content + 1, limit: ChangeLogLimits.content))
    #expect(ChangeLogLimits(count: 0, bytes: .max) == ChangeLogLimits(count: 1))
    let most = ChangeLogLimits(count: .max, bytes: 0)
    #expect((most.count, most.bytes) == (1_500, 1))
    #expect((ChangeLogLimits().count, ChangeLogLimits().bytes) == (1_000, 4_194_304))
  }

  @Test("SYN-3 a failed change is retried in order, and becomes a dead letter after its attempts")
  func policy() async throws {
    let bench = try ChangeBench()
    let server = ChangeServer()
    let log = try await bench.open {
      $0.policy = ChangePolicy(attempts: 2, firstDelay: .seconds(1))
    }
    let request = try #require(Change.Request("POST", "/a", key: "k1"))
    try await log.add(.request(request), through: bench.gate)
    try await log.add(ChangeBench.change(.create, 2, key: "k2"), through: bench.gate)
    func drain() async throws -> DrainResult {
      try await log.drain(through: bench.gate) { server.take($0) }
    }
    server.answer(.tryLater("503", after: .seconds(30)))
    let due = bench.clock.now().time.advanced(by: 30_000)
    #expect(try await drain().ending == .waits(until: due))
    #expect(try await drain().ending == .waits(until: due))
    #expect(server.arrivals == ["k1"], "nothing overtakes it")
    bench.clock.advance(by: .seconds(30))
    server.answer(.notReached("offline"))
    #expect(try await drain().ending == .waits(until: due.advanced(by: 1_000)))
    bench.clock.advance(by: .seconds(1))
    #expect(log.queue.pending.first?.attempts == 1, "only what a server answered counts")
    server.answer(.tryLater("503 again"))
    let drained = try await drain()
    #expect(drained == DrainResult(acknowledged: 1, givenUp: 1, ending: .empty))
    #expect(server.arrivals == ["k1", "k1", "k1", "k2"])
    let failure = try #require(log.queue.failures.first)
    #expect(failure.cause == .attemptsExhausted && failure.reason == "503 again")
    #expect(failure.change == .request(request))
    try await log.add(ChangeBench.change(.update, 2, key: "k3"), through: bench.gate)
    server.answer(.refused("422"))
    #expect(try await drain().givenUp == 1)
    #expect(log.queue.failures.map(\.cause) == [.attemptsExhausted, .refused])
    try await log.discard("k1")
    #expect(log.queue.failures.map(\.change.key) == ["k3"])
    #expect(try await caught { try await log.discard("k1") } == .unknownKey("k1"))
  }

  @Test(
    "SYN-1 SYN-2 a change is cancelled when the gate closes, and is sent again with its key"
  )
  func gateCloses() async throws {
    let bench = try ChangeBench()
    let server = ChangeServer()
    let log = try await bench.open()
    try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: bench.gate)
    let isSending = Signal()
    async let draining = log.drain(through: bench.gate) { item in
      _ = server.take(item)
      await runUntilCancelled(isSending)
      return .notReached("cancelled")
    }
    await isSending.wait()
    #expect(
      try await caught { _ = try await log.drain(through: bench.gate) { server.take($0) } }
        == .drainUnderWay)
    bench.expire()
    #expect(try await draining.ending == .gateClosed)
    // A later change does not modify the one that was sent.
    bench.signIn()
    try await log.add(ChangeBench.change(.update, 1, key: "k2"), through: bench.gate)
    #expect(try await log.drain(through: bench.gate) { server.take($0) }.acknowledged == 2)
    #expect(server.arrivals == ["k1", "k1", "k2"])
  }

  @Test("SYN-2 SYN-3 a drain whose task is cancelled ends so, and its change is due again at once")
  func cancelledDrain() async throws {
    let bench = try ChangeBench()
    let server = ChangeServer()
    let log = try await bench.open()
    try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: bench.gate)
    let isSending = Signal()
    let draining = Task {
      try await log.drain(through: bench.gate) { _ in
        await runUntilCancelled(isSending)
        return .notReached("cancelled")
      }
    }
    await isSending.wait()
    draining.cancel()
    #expect(try await draining.value.ending == .cancelled)
    #expect(try await log.drain(through: bench.gate) { server.take($0) }.acknowledged == 1)
    #expect(server.arrivals == ["k1"])
  }

  @Test(
    "SYN-2 one of two processes sends, and a dead one's change is sent again with its key")
  func shared() async throws {
    let bench = try ChangeBench()
    let server = ChangeServer()
    let (first, second) = (try await bench.open(), try await bench.open())
    try await first.add(ChangeBench.change(.create, 1, key: "k1"), through: bench.gate)
    try await second.add(ChangeBench.change(.create, 2, key: "k2"), through: bench.gate)
    let (isSending, mayEnd) = (Signal(), Signal())
    async let draining = first.drain(through: bench.gate) { item in
      isSending.give()
      await mayEnd.wait()
      return server.take(item)
    }
    await isSending.wait()
    let deadline = bench.clock.now().time.advanced(by: ChangePolicy().lease)
    #expect(
      try await second.drain(through: bench.gate) { server.take($0) }.ending
        == .leasedElsewhere(until: deadline))
    mayEnd.give()
    #expect(try await draining.acknowledged == 2)
    #expect(try await second.pendingCount() == 0)
    #expect(server.arrivals == ["k1", "k2"])

    // A process that died while it was sending.
    try await second.add(ChangeBench.change(.create, 3, key: "k3"), through: bench.gate)
    let dead = try await bench.open {
      $0.presence = ChangeBench.presence(ofProcess: UInt32(Int32.max))
    }
    let gate = bench.gate
    let drained = try await dead.drain(through: gate) { item in
      _ = server.take(item)
      bench.expire()
      return .notReached("it dies")
    }
    #expect(drained.ending == .gateClosed)
    bench.signIn()
    #expect(try await second.drain(through: gate) { server.take($0) }.acknowledged == 1)
    #expect(server.arrivals == ["k1", "k2", "k3", "k3"])
  }

  @Test(
    "SYN-2 a log that was closed or released while sending does not block others of its process"
  )
  func closedWhileSending() async throws {
    let bench = try ChangeBench()
    let (server, gate) = (ChangeServer(), bench.gate)
    let second = try await bench.open()
    // The log can record neither the result nor the release.
    func sendAndClose(_ log: ChangeLog) async throws {
      let error = try await caught {
        _ = try await log.drain(through: gate) { item in
          _ = server.take(item)
          do { try await log.close() } catch { Issue.record(error) }
          return .notReached("the log was closed")
        }
      }
      #expect(error == .journal(.closed(path: bench.path)))
    }
    try await second.add(ChangeBench.change(.create, 1, key: "k1"), through: gate)
    var first: ChangeLog? = try await bench.open()
    if let first { try await sendAndClose(first) }
    let held = try await second.drain(through: gate) { server.take($0) }
    let deadline = bench.clock.now().time.advanced(by: ChangePolicy().lease)
    #expect(held.ending == .leasedElsewhere(until: deadline), "it may have gone on with it")
    // Closed again without a pending request, or released.
    try await first?.close()
    #expect(try await second.drain(through: gate) { server.take($0) }.acknowledged == 1)
    try await second.add(ChangeBench.change(.create, 1, key: "k2"), through: gate)
    first = try await bench.open()
    if let first { try await sendAndClose(first) }
    first = nil
    #expect(try await second.drain(through: gate) { server.take($0) }.acknowledged == 1)
    #expect(server.arrivals == ["k1", "k1", "k2", "k2"])
  }

  @Test(
    "JRN-4 a long log is compacted, also while another process has it open, and keeps its state")
  func compaction() async throws {
    let bench = try ChangeBench()
    let server = ChangeServer()
    let log = try await bench.open { $0.compactedAfter = 20 }
    let other = try await bench.open()
    try await log.noteStatus(changedAt: Timestamp(milliseconds: 7), scope: "a")
    for number in 1...10 {
      try await log.add(
        ChangeBench.change(.create, number, key: Identifier("k\(number)")), through: bench.gate)
    }
    server.answer(.refused("422"), .done, .done, .done, .tryLater("503"))
    _ = try await log.drain(through: bench.gate) { server.take($0) }
    let before = log.queue
    #expect(before.pending.count == 6 && before.failures.count == 1)
    #expect(try await other.pendingCount() == 6)
    bench.clock.advance(by: .seconds(1))
    server.answer(.done, .tryLater("503"))
    _ = try await log.drain(through: bench.gate) { server.take($0) }
    #expect(log.problem == nil)
    var reader = try JournalReader(path: bench.path)
    #expect(try reader.next()?.isSnapshot == true)
    #expect(try await other.pendingCount() == 5)
    #expect(other.queue == log.queue)
    let anew = try await bench.open()
    #expect(anew.queue == log.queue && anew.statusChangedAt(scope: "a")?.milliseconds == 7)
  }

  @Test("SYN-4 a status time survives discarded changes, and only removing the log deletes it")
  func scopes() async throws {
    let bench = try ChangeBench()
    var log = try await bench.open()
    let time = Timestamp(milliseconds: 99)
    #expect(try await log.noteStatus(changedAt: time))
    #expect(try await !log.noteStatus(changedAt: time))
    try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: bench.gate)
    try await log.end(
      SignIn(journal: "j", generation: Generation(1)), of: "u-1", discards: true)
    try await log.close()
    #expect(
      try await caught { _ = try await log.pendingCount() } == .journal(.closed(path: bench.path)))
    log = try await bench.open()
    #expect(log.statusChangedAt() == time && log.queue.pending.isEmpty)
    try await log.close()
    try await ChangeLog.remove(at: bench.path)
    log = try await bench.open()
    #expect(log.statusChangedAt() == nil)
  }

  @Test("JRN-3 a session's journal is no change log, and a record of a newer version is refused")
  func foreignFiles() async throws {
    let bench = try ChangeBench()
    let journal = try Journal.open(at: bench.path)
    _ = try journal.append([JournalDraft(kind: 0xB7, payload: Array(repeating: 1, count: 9))])
    #expect(
      try await caught { _ = try await bench.open() }
        == .newerVersion(path: bench.path, sequence: 1, kind: 0xB7))
    try journal.close()
    try await ChangeLog.remove(at: bench.path)
    let log = try await bench.open()
    let other = try Journal.open(at: bench.path)
    _ = try other.append([JournalDraft(kind: 0x82, payload: Array(repeating: 1, count: 9))])
    for _ in 0..<2 {
      #expect(
        try await caught { _ = try await log.pendingCount() }
          == .notAChangeLog(path: bench.path, sequence: 1, kind: 0x82))
    }
  }

  @Test("STO-3 each error of a change log has its own full sentence")
  func words() {
    let errors: [ChangeLogError] = [
      .sessionExpired, .notSignedIn, .notKnown, .othersChanges(3), .keyInUse("k"), .givenUp("k"),
      .signInEnded, .loggingOut(until: Timestamp(milliseconds: 0)), .full(count: 2, bytes: 9),
      .contentTooLong(bytes: 9, limit: 8), .unknownKey("k"), .drainUnderWay,
      .notAChangeLog(path: "/p", sequence: 1, kind: 2),
      .newerVersion(path: "/p", sequence: 1, kind: 2),
      .unusable(path: "/p", sequence: 1, problem: "odd"), .journal(.closed(path: "/p")),
    ]
    #expect(Set(errors.map(\.description)).count == errors.count)
    #expect(errors.allSatisfy { $0.description.hasSuffix(".") && $0.description.contains(" ") })
    #expect(SyncGateClosed().description.hasSuffix("."))
  }
}

@Suite("A change log and a logout")
struct ChangeLogoutTests {
  private func signedIn(_ bench: Bench, _ log: ChangeLog) async throws -> Session {
    var configuration = bench.configuration(.keeping)
    configuration.attach(log)
    let session = try await Session.open(configuration)
    if !session.isAuthenticated { try await session.login(bench.credentials) }
    return session
  }

  @Test(
    """
    OUT-3 SYN-5 pending changes prevent a logout, survive an expiry, and are discarded only by \
    permission
    """)
  func phases() async throws {
    let bench = try Bench()
    let path = bench.folder.path + "/changes.journal"
    let log = try await ChangeLog.open(at: path)
    let session = try await signedIn(bench, log)
    let gate = session.gate
    try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: gate)
    try await log.noteStatus(changedAt: Timestamp(milliseconds: 5))
    await #expect(throws: SessionError.pendingChanges(1)) { try await session.logout() }
    #expect(session.isAuthenticated)
    bench.server.failNext(.refresh, with: .status(401))
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(session.state.kind == .expired && !gate.isOpen)
    await #expect(throws: ChangeLogError.sessionExpired) {
      try await log.add(ChangeBench.change(.create, 2, key: "k2"), through: gate)
    }
    await #expect(throws: SessionError.pendingChanges(1)) { try await session.logout() }
    #expect(log.queue.pending.count == 1)
    try await session.logout(discardingPendingChanges: true)
    #expect(try await log.pendingCount() == 0)
    #expect(log.statusChangedAt()?.milliseconds == 5, "SYN-4")
    var reader = try JournalReader(path: path)
    #expect(try reader.next()?.isSnapshot == true, "what was written is gone from the file")
    try await session.close()
    try await log.close()
  }

  @Test("OUT-3 SYN-5 after a death that followed a logout, the next opening discards the changes")
  func crash() async throws {
    let bench = try Bench()
    let log = try await ChangeLog.open(at: bench.folder.path + "/changes.journal")
    // This session has no log, like one whose process dies before the discarding.
    let first = try await bench.signedIn(.keeping)
    try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: first.gate)
    try await first.logout()
    try await first.close()
    #expect(try await log.pendingCount() == 1)
    var configuration = bench.configuration(.keeping)
    configuration.attach(log)
    let session = try await Session.open(configuration)
    #expect(try await session.logout() == .alreadyLoggedOut, "and it waits for the clearing")
    #expect(try await log.pendingCount() == 0)
    try await session.close()
  }
}
