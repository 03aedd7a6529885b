import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Testing

@testable import SessionKit

@Suite("The history of a session")
struct HistoryTests {
  private func records(_ history: SessionHistory) -> [SessionRecord] {
    history.parts.compactMap { part in
      guard case .record(let entry) = part else { return nil }
      return entry.record
    }
  }

  @Test("RPL-8 a history has all records of the journal, while the session is open and after it")
  func whole() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    try await session.refresh()
    let history = try await session.history()
    #expect(records(history) == (try bench.records()))
    #expect(history.count == (try bench.records().count))
    #expect(history.events.map(\.event.kind) == [.login, .refreshSucceeded])
    #expect(
      history.journal.description == (try JournalReader(path: bench.journal)).identifier.description
    )
    #expect(history.damage.isEmpty && !history.isCompacted && history.ending == .clean)
    #expect(MemoryLayout<SessionHistory.Part>.stride <= 1_024)

    try await session.logout()
    try await session.close()
    let later = try await session.history()
    #expect(records(later) == (try bench.records()))
    #expect(later.events.map(\.event.kind) == [.login, .refreshSucceeded, .logout])
    #expect(history.events.count == 2)
    #expect(try await Session.history(of: bench.configuration()) == later)
  }

  @Test("RPL-8 a history is read while another process holds the journal's lock")
  func locked() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let other = try Journal.open(at: bench.journal)
    // A commit of the session would wait for this lock.
    let history = try other.transact { (_) throws(SessionError) in
      (drafts: [], value: try SessionHistory(path: bench.journal))
    }.value
    #expect(history.events.count == 1)
    try other.close()
    try await session.close()
  }

  @Test("RPL-8 a history that is read during commits has whole batches, and no damage")
  func whileWriting() async throws {
    let bench = try Bench()
    let path = bench.journal
    try Journal.open(at: path).close()
    let writer = Task.detached {
      let journal = try Journal.open(at: path)
      let note = SessionRecord.Content.note(.itemUnreadable(.user))
      let draft = JournalDraft(note, at: Timestamp(milliseconds: 0))
      for _ in 0..<400 { _ = try journal.append([draft, draft, draft]) }
      try journal.close()
    }
    var counts: [Int] = []
    for _ in 0..<60 {
      let history = try SessionHistory(path: path)
      #expect(history.damage.isEmpty && history.count % 3 == 0)
      counts.append(history.count)
    }
    try await writer.value
    #expect(counts == counts.sorted())
    #expect(try SessionHistory(path: path).count == 1_200)
  }

  @Test("RPL-8 a compacted journal's history begins with the snapshot")
  func compacted() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    for _ in 0..<3 { try await session.refresh() }
    try await session.close()
    let journal = try Journal.open(at: bench.journal)
    _ = try journal.compact(keepingFrom: 6, summary: SnapshotSummary())
    try journal.close()
    let history = try await session.history()
    #expect(history.isCompacted && history.origin.beginsWithSnapshot)
    #expect(records(history) == (try bench.records()))
    #expect(history.count == (try bench.records().count))
  }

  @Test(
    "RPL-8 RPL-6 a damaged journal gives what can be read, and says where it cannot be read",
    arguments: [1, 2, 3, 5])
  func damaged(sequence: UInt64) async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    try await session.refresh()
    try await session.close()
    let before = try bench.records()
    try bench.damage(sequence)
    let bytes = try Data(contentsOf: URL(filePath: bench.journal))
    let history = try await Session.history(of: bench.configuration())
    let lost = try #require(history.damage.first)
    #expect(history.damage.count == 1 && lost.sequences?.contains(sequence) == true)
    #expect(lost.bytes > 0 && lost.offset >= 64)
    #expect(history.ending == .damaged)
    let readable = before.filter { lost.sequences?.contains($0.sequence) == false }
    #expect(records(history) == readable)
    #expect(try Data(contentsOf: URL(filePath: bench.journal)) == bytes)
  }

  @Test("RPL-8 RES-6 the history of a journal that was moved aside can be read")
  func asides() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    try bench.damage(2)
    let session = try await bench.openAside()
    let aside = try #require(session.journalSetAside)
    let history = try await Session.history(at: aside, bench.configuration())
    #expect(!history.damage.isEmpty && history.count > 0)
    #expect(history.journal != (try await session.history()).journal)
    try await session.close()
  }

  @Test("RPL-8 a file that is missing, or is no journal of a session, throws and changes nothing")
  func unreadable() async throws {
    let bench = try Bench()
    func error(_ url: URL? = nil) async -> SessionError? {
      await failure { () async throws(SessionError) in
        if let url { return try await Session.history(at: url, bench.configuration()) }
        return try await Session.history(of: bench.configuration())
      }
    }
    guard case .missing? = await error()?.journalError else {
      Issue.record("a missing journal")
      return
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folder.path).isEmpty)
    let web = try #require(URL(string: "https://example.com/a.journal"))
    #expect(await error(web)?.code == .refused)
    for (bytes, name) in [(Data("no journal".utf8), "text"), (Data(count: 64), "zeros")] {
      let url = bench.folder.appending(path: name)
      try bytes.write(to: url)
      #expect(await error(url)?.failure == .journal)
    }
    let changes = bench.folder.appending(path: "changes.journal")
    let frozen = SetAsideTests.golden + "../Frozen/format-1/changes.journal"
    try Data(contentsOf: URL(filePath: frozen)).write(to: changes)
    #expect(await error(changes)?.code == .storage)
  }

  @Test("STO-3 the description of a history and its reflection name no user")
  func description() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let history = try await session.history()
    let user = try #require(session.state.user).description
    #expect(!"\(history)".contains(user) && !String(reflecting: history).contains(user))
    var dumped = ""
    dump(history, to: &dumped)
    #expect(!dumped.contains(user))
    #expect("\(history)".contains("\(history.count) records, 0 damaged places"))
    try await session.close()
  }
}
