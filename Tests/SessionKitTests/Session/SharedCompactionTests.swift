import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("A session: several processes compact one journal")
struct SharedCompactionTests {
  /// The result of one compaction.
  private struct Entry: Equatable {
    let name: String
    /// The number of records in the file before.
    let records: Int
    /// The number of records that were removed, or `nil` if nothing was done.
    let removed: UInt64?
  }

  private final class Log: Sendable {
    private let list = Mutex<[Entry]>([])
    var entries: [Entry] { list.withLock { $0 } }
    func add(_ entry: Entry) { list.withLock { $0.append(entry) } }
  }

  private static func short(kept: Int = 8) -> RetentionPolicy {
    RetentionPolicy(
      maximumRecords: 20, maximumBytes: nil, maximumAge: nil, keptRecords: kept, keptBeforeEnd: 2)
  }

  private func configuration(
    _ bench: Bench, _ name: String, _ log: Log, retention: RetentionPolicy? = short()
  ) -> SessionConfiguration {
    var configuration = bench.configuration()
    configuration.retention = retention
    // Real time must not decide: forty openings during a request may take longer than the request.
    configuration.policy.refresh.timeout = .seconds(300)
    let compact = configuration.compaction
    configuration.compaction = { (journal, first) throws(JournalError) in
      let records = count(of: bench)
      let done = try compact(journal, first)
      log.add(Entry(name: name, records: records, removed: done?.recordsRemoved))
      return done
    }
    return configuration
  }

  /// The number of records in the file without a snapshot, or 0 if it cannot be read.
  private func count(of bench: Bench) -> Int {
    do {
      return try bench.records().count { record in
        if case .snapshot = record.content { false } else { true }
      }
    } catch {
      Issue.record("\(error)")
      return 0
    }
  }

  /// Expects that every compaction removed at least a quarter of the records, except for the rest
  /// of a batch.
  private func requireSeldom(
    _ log: Log, _ bench: Bench, at place: SourceLocation = #_sourceLocation
  ) throws {
    for entry in log.entries {
      let removed = Int(try #require(entry.removed, "\(entry)", sourceLocation: place))
      #expect((removed + 1) * 4 >= entry.records, "\(entry)", sourceLocation: place)
    }
    #expect(count(of: bench) <= 24, sourceLocation: place)
  }

  @Test("JRN-4 three processes compact a journal no more often than one would")
  func three() async throws {
    let bench = try Bench()
    let log = Log()
    let a = try await Session.open(configuration(bench, "a", log))
    try await a.login(bench.credentials)
    let b = try await Session.open(configuration(bench, "b", log))
    let c = try await Session.open(configuration(bench, "c", log))
    for round in 1...40 {
      try await a.refresh()
      if round.isMultiple(of: 3) { try await b.refresh() }
      if round.isMultiple(of: 5) { try await c.refresh() }
    }
    try requireSeldom(log, bench)
    let last = try #require(try bench.records().last?.sequence)
    #expect(log.entries.count >= 3)
    #expect(log.entries.count * 10 <= last, "\(log.entries)")
    for session in [a, b, c] {
      #expect(session.compactionProblem == nil)
      try await session.close()
    }
  }

  @Test("JRN-4 two processes that take turns both compact, and no subscriber misses an event")
  func two() async throws {
    let bench = try Bench()
    let log = Log()
    let a = try await Session.open(configuration(bench, "a", log))
    try await a.login(bench.credentials)
    let b = try await Session.open(configuration(bench, "b", log))
    let sessions = [a, b]
    let subscriptions = sessions.map(\.events)
    for run in 0..<24 {
      for _ in 0..<(2 + run % 5) { try await sessions[run % 2].refresh() }
    }
    try requireSeldom(log, bench)
    #expect(Set(log.entries.map(\.name)) == ["a", "b"])
    // This reads the other process's last events.
    try await a.refresh()
    var seen: [[UInt64]] = []
    for (session, events) in zip(sessions, subscriptions) {
      try await session.close()
      var sequences: [UInt64] = []
      for try await event in events { sequences.append(event.sequence) }
      seen.append(sequences)
    }
    #expect(seen[0].count == bench.server.count(of: .refresh))
    #expect(seen[1].count >= seen[0].count - 1)
    #expect(seen[0].starts(with: seen[1]))
  }

  @Test("JRN-4 the first record of an opening compacts a long journal, and the state is unchanged")
  func atOpen() async throws {
    let bench = try Bench()
    let log = Log()
    let first = try await Session.open(configuration(bench, "first", log, retention: nil))
    try await first.login(bench.credentials)
    for _ in 0..<30 { try await first.refresh() }
    try await first.close()
    #expect(count(of: bench) > 60)
    // Two processes open it, and the one that writes compacts.
    let a = try await Session.open(configuration(bench, "a", log))
    #expect(log.entries.isEmpty)
    try await a.refresh()
    let state = a.state
    let b = try await Session.open(configuration(bench, "b", log))
    #expect(log.entries.map(\.name) == ["a"])
    #expect(count(of: bench) <= 10)
    #expect(a.state == state && b.state == state)
    #expect(b.currentToken?.generation == Generation(32))
    try await a.close()
    try await b.close()
  }

  @Test(
    "JRN-4 a due compaction does nothing if another process has compacted before it got the lock")
  func race() async throws {
    let bench = try Bench()
    let log = Log()
    let first = try await Session.open(configuration(bench, "first", log, retention: nil))
    try await first.login(bench.credentials)
    for _ in 0..<30 { try await first.refresh() }
    let path = bench.journal
    var configuration = configuration(bench, "late", log)
    let compact = configuration.compaction
    configuration.compaction = { (journal, first) throws(JournalError) in
      if log.entries.isEmpty {
        // Another process takes the lock between the decision and the compaction.
        let other = try Journal.open(at: path)
        let done = try other.compact(keepingFrom: first - 1, summary: SnapshotSummary())
        try other.close()
        log.add(Entry(name: "other", records: 0, removed: done?.recordsRemoved))
      }
      return try compact(journal, first)
    }
    let late = try await Session.open(configuration)
    for _ in 0..<3 { try await late.refresh() }
    #expect(log.entries.map(\.name) == ["other", "late"])
    #expect(log.entries.last?.removed == nil)
    #expect(late.compactionProblem == nil)
    // The next due compaction still happens.
    for _ in 0..<10 { try await late.refresh() }
    #expect(log.entries.count > 2)
    #expect(log.entries.dropFirst(2).allSatisfy { $0.removed != nil })
    try await late.close()
    try await first.close()
  }

  @Test("JRN-4 a due compaction that can remove nothing is retried an hour later")
  func nothing() async throws {
    let bench = try Bench()
    let tries = Mutex(0)
    var configuration = bench.configuration()
    configuration.retention = Self.short()
    configuration.compaction = { (_, _) throws(JournalError) in
      tries.withLock { $0 += 1 }
      return nil
    }
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    for _ in 0..<30 { try await session.refresh() }
    #expect(tries.withLock { $0 } == 1)
    #expect(session.compactionProblem == nil)
    try await session.close()
  }

  @Test(
    "JRN-4 REF-3 callers still share a pending request after others compacted the journal",
    arguments: [6, 40])
  func lease(openings: Int) async throws {
    let bench = try Bench()
    let log = Log()
    let a = try await Session.open(configuration(bench, "a", log, retention: nil))
    try await a.login(bench.credentials)
    for _ in 0..<4 { try await a.refresh() }
    let b = try await Session.open(configuration(bench, "b", log, retention: Self.short(kept: 4)))
    let gate = bench.server.hold(.refresh)
    let before = bench.server.count(of: .refresh)
    let refreshed = Task { try await a.refresh() }
    #expect(await bench.server.received(.refresh, count: before + 1))
    let request = try #require(
      try bench.records().last { $0.name == "requestSent" }?.sequence)
    for _ in 0..<openings {
      let passerBy = try await Session.open(
        configuration(bench, "passer-by", log, retention: nil))
      // An opening that waits is noted.
      let waiting = Task { try await passerBy.refresh() }
      await eventually("it waits") { passerBy.waiterCount == 1 }
      waiting.cancel()
      try await passerBy.close()
    }
    let waiting = Task { try await b.refresh() }
    await eventually("b compacts") { !log.entries.isEmpty }
    #expect(log.entries.allSatisfy { $0.name == "b" && $0.removed != nil })
    let first = try #require(try bench.records().dropFirst().first?.sequence)
    // The note itself is kept while there is room.
    #expect((first <= request) == (openings == 6))
    let c = try await Session.open(configuration(bench, "c", log, retention: nil))
    let third = Task { try await c.refresh() }
    await eventually("both wait") { b.waiterCount == 1 && c.waiterCount == 1 }
    #expect(bench.server.count(of: .refresh) == before + 1)
    gate.open()
    let token = try await refreshed.value
    await eventually("both have it") {
      bench.clock.advance(by: .milliseconds(100))
      return b.waiterCount == 0 && c.waiterCount == 0
    }
    #expect(try await waiting.value == token)
    #expect(try await third.value == token)
    #expect(bench.server.count(of: .refresh) == before + 1)
    for session in [a, b, c] { try await session.close() }
    var whole = SessionFold()
    for record in try bench.records() { try whole.apply(record) }
    #expect(whole.intents.request == nil)
  }

  @Test("JRN-4 OUT-2 a pending revocation survives a compaction, and is sent later")
  func revocation() async throws {
    let bench = try Bench()
    let log = Log()
    let session = try await Session.open(configuration(bench, "a", log))
    try await session.login(bench.credentials)
    bench.server.failNext(.logout, with: .status(503))
    #expect(try await session.logout() == .partial(.serverNotTold(status: 503)))
    let owed = try bench.files()
    #expect(owed == ["revocation"])
    let pending = try #require(
      try bench.records().last { $0.name == "revocationPending" }?.sequence)
    // Other processes open and close until one compacts.
    for _ in 0..<30 where log.entries.isEmpty {
      bench.server.failNext(.logout, with: .status(503))
      try await Session.open(configuration(bench, "b", log)).close()
    }
    #expect(!log.entries.isEmpty)
    let records = try bench.records()
    guard case .snapshot(let fold)? = records.first?.content else {
      Issue.record("no snapshot")
      return
    }
    #expect(records[0].sequence >= pending)
    #expect(!fold.intents.revocations.isEmpty)
    try await session.close()
    let again = try await Session.open(configuration(bench, "c", log))
    try await eventually("the settlement") {
      try bench.records().last?.name == "revocationSettled" && bench.files().isEmpty
    }
    #expect(again.state == .unauthenticated)
    try await again.close()
  }

  @Test("JRN-4 a journal with another hard link is not compacted, and the session continues")
  func hardLink() async throws {
    let bench = try Bench()
    let log = Log()
    let session = try await Session.open(configuration(bench, "a", log))
    try await session.login(bench.credentials)
    let other = bench.folder.appending(path: "b.journal").path
    try FileManager.default.linkItem(atPath: bench.journal, toPath: other)
    for _ in 0..<30 { try await session.refresh() }
    #expect(
      session.compactionProblem == .journal(.hardLinked(path: bench.journal, links: 2)))
    #expect(log.entries.isEmpty)
    #expect(count(of: bench) > 60)
    #expect(session.currentToken?.generation == Generation(31))
    try FileManager.default.removeItem(atPath: other)
    bench.clock.advance(by: .seconds(3_600))
    try await session.refresh()
    await eventually("it is compacted") { session.compactionProblem == nil }
    #expect(log.entries.count >= 1)
    try await session.close()
  }

  @Test("JRN-4 damage that a compaction finds is reported, and the session continues without loss")
  func damaged() async throws {
    let bench = try Bench()
    var configuration = bench.configuration()
    configuration.retention = Self.short()
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    let file = try FileHandle(forUpdating: URL(filePath: bench.journal))
    let place = UInt64(JournalHeader.size + JournalFrame.headerSize + 1)
    try file.seek(toOffset: place)
    let byte = try #require(try file.read(upToCount: 1)?.first)
    try file.seek(toOffset: place)
    try file.write(contentsOf: [byte ^ 1])
    try file.close()
    for _ in 0..<30 { try await session.refresh() }
    guard case .journal(.damaged(bench.journal, let damage)) = session.compactionProblem.failure
    else {
      Issue.record("it is \(String(describing: session.compactionProblem))")
      return
    }
    #expect(damage.sequence == 1)
    #expect(session.currentToken?.generation == Generation(31))
    let names = try FileManager.default.contentsOfDirectory(atPath: bench.folder.path).sorted()
    // A file of the living openings exists only if the system has such locks.
    #expect(names.filter { $0 != "a.journal.alive" } == ["a.journal", "a.journal.lock", "secrets"])
    try await session.close()
  }
}
