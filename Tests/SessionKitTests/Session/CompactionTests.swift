import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("A session: compaction of its journal")
struct CompactionTests {
  private static let short = RetentionPolicy(
    maximumRecords: 20, maximumBytes: nil, keptRecords: 6, keptBeforeEnd: 2)

  private func configuration(_ bench: Bench, retention: RetentionPolicy? = short)
    -> SessionConfiguration
  {
    var configuration = bench.configuration(eventBuffer: 2)
    configuration.retention = retention
    return configuration
  }

  private func snapshot(_ bench: Bench) throws -> (record: SessionRecord, fold: SessionFold)? {
    guard let first = try bench.records().first, case .snapshot(let fold) = first.content else {
      return nil
    }
    return (first, fold)
  }

  private func sequences(_ events: SessionEvents) async throws -> [UInt64] {
    var sequences: [UInt64] = []
    for try await event in events { sequences.append(event.sequence) }
    return sequences
  }

  @Test("JRN-4 STA-7 a long journal is compacted to a snapshot, and the state is unchanged")
  func compacts() async throws {
    let bench = try Bench()
    let session = try await Session.open(configuration(bench))
    try await session.login(bench.credentials)
    for _ in 0..<30 { try await session.refresh() }
    #expect(session.compactionProblem == nil)
    let state = session.state
    try await session.close()

    let (record, fold) = try #require(try snapshot(bench))
    let records = try bench.records()
    #expect(records.count <= 22)
    var whole = SessionFold()
    for record in records { try whole.apply(record) }
    #expect(whole.state == state)
    let again = try await Session.open(configuration(bench))
    #expect(again.state == state)
    #expect(again.currentToken?.generation == Generation(31))
    let all = again.events(after: 0)
    let rest = again.events(after: record.sequence)
    try await again.close()
    await #expect(
      throws: SessionError.eventsCompacted(through: record.sequence, state: fold.state)
    ) { try await sequences(all) }
    #expect(
      try await sequences(rest)
        == records.filter { $0.event != nil }.map(\.sequence))
  }

  @Test("JRN-4 a process that missed compacted records continues, and reports which are missing")
  func behind() async throws {
    let bench = try Bench()
    let first = try await Session.open(configuration(bench))
    try await first.login(bench.credentials)
    let second = try await Session.open(configuration(bench, retention: nil))
    let events = second.events
    for _ in 0..<30 { try await first.refresh() }
    let (record, fold) = try #require(try snapshot(bench))
    try await second.refresh()
    // The other process's token is shared, so this process sends no request.
    #expect(second.currentToken?.generation == Generation(31))
    await #expect(
      throws: SessionError.eventsCompacted(through: record.sequence, state: fold.state)
    ) { try await sequences(events) }
    let rest = second.events(after: record.sequence)
    try await second.close()
    let expected = try bench.records().filter { $0.event != nil }.map(\.sequence)
    #expect(try await sequences(rest) == expected)
    try await first.close()
  }

  @Test("JRN-4 a failed compaction ends no session, is reported, and is retried after an hour")
  func fails() async throws {
    let bench = try Bench()
    let tries = Mutex(0)
    let isFull = Mutex(true)
    var configuration = configuration(bench)
    let compact = configuration.compaction
    configuration.compaction = { (journal, first) throws(JournalError) in
      tries.withLock { $0 += 1 }
      guard isFull.withLock({ $0 }) else { return try compact(journal, first) }
      throw .diskFull(path: journal.name)
    }
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    for _ in 0..<30 { try await session.refresh() }
    #expect(tries.withLock { $0 } == 1)
    #expect(session.compactionProblem.isExactly(.journal(.diskFull(path: bench.journal))))
    let found = try snapshot(bench)
    #expect(found == nil)
    isFull.withLock { $0 = false }
    bench.clock.advance(by: .seconds(3_600))
    try await session.refresh()
    await eventually("the second try") { tries.withLock { $0 } >= 2 }
    await eventually("it is compacted") { session.compactionProblem == nil }
    let made = try snapshot(bench)
    #expect(made != nil)
    try await session.refresh()
    try await session.close()
  }
}
