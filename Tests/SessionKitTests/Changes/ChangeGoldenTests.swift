import Foundation
import SessionChanges
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionMessages
import Testing

/// The change logs in `Specs/Golden/changes`, opened by the code that sends them.
@Suite("Golden change logs")
struct ChangeGoldenTests {
  private let bench: ChangeBench

  init() throws { bench = try ChangeBench() }

  private func place(_ name: String) throws {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let golden = root.appending(path: "Specs/Golden/changes/\(name).journal")
    try FileManager.default.copyItem(at: golden, to: URL(fileURLWithPath: bench.path))
  }

  @Test(
    "JRN-3 SYN-2 a change log of version 1 is opened and sent in order with its own keys",
    arguments: [("plain", [4]), ("compacted", [4, 1, 2]), ("torn", [4, 5])])
  func sent(name: String, keys: [Int]) async throws {
    try place(name)
    let log = try await bench.open()
    let expected = keys.map { Identifier("00000000-0000-4000-8000-00000000000\($0)") }
    #expect(log.queue.pending.map(\.change.key) == expected)
    #expect(log.queue.failures.map(\.reason) == ["422 TITLE_EMPTY"])
    #expect(log.statusChangedAt(scope: "north") != nil)
    let server = ChangeServer()
    let drained = try await log.drain(through: bench.gate) { server.take($0) }
    #expect(drained.acknowledged == keys.count && server.arrivals == expected)
    #expect(try await log.pendingCount() == 0)
    try await log.close()
  }

  @Test(
    "JRN-3 SYN-2 OUT-3 changes are sent only through the login that added them and has not ended",
    arguments: ["sign-ins", "sign-ins-compacted"])
  func signIns(name: String) async throws {
    try place(name)
    let log = try await bench.open()
    let queue = log.queue
    let own = SignIn(journal: ChangeBench.journal, generation: Generation(2))
    #expect(queue.pending.map(\.change.key) == ["k-1", "k-2"] && queue.failures.isEmpty)
    #expect(queue.pending.map(\.isRetried) == [true, false])
    #expect(queue.pending.allSatisfy { $0.signIn == own } && queue.author == own)
    let ended = SignIn(journal: ChangeBench.journal, generation: Generation(1))
    #expect(queue.ended == [ended])
    // In the compacted log, a record after the snapshot says that the logout did not happen.
    #expect(queue.leaving.map(\.leaving.process) == (name == "sign-ins" ? [7] : []))
    let server = ChangeServer()
    let before = try await log.drain(through: bench.gate) { server.take($0) }
    #expect(before.acknowledged == 0 && server.arrivals.isEmpty)
    bench.signIn(token: 2)
    let drained = try await log.drain(through: bench.gate) { server.take($0) }
    #expect(drained.acknowledged == 2 && server.arrivals == ["k-1", "k-2"])
    #expect(try await log.pendingCount() == 0)
    try await log.close()
  }

  @Test(
    "JRN-3 SYN-2 a change log of a newer version is not sent, and is not changed",
    arguments: ["unknown-kind", "newer-version"])
  func newerVersion(name: String) async throws {
    try place(name)
    let before = try Data(contentsOf: URL(fileURLWithPath: bench.path))
    do {
      _ = try await bench.open()
      Issue.record("\(name) was opened")
    } catch let error as ChangeLogError {
      switch (name, error) {
      case ("unknown-kind", .newerVersion(_, sequence: 4, kind: 0xB3)): break
      case ("newer-version", .newerVersion(_, sequence: 3, kind: 0xA0)): break
      default: Issue.record("\(name): \(error)")
      }
      #expect(error.message.advice == .update)
    }
    // A journal that was opened and closed may have a mark that its records are durable.
    let isKept = try Data(contentsOf: URL(fileURLWithPath: bench.path)).starts(with: before)
    #expect(isKept)
    var reader = try JournalReader(path: bench.path)
    while try reader.next() != nil {}
    #expect(reader.totals.records == (name == "unknown-kind" ? 5 : 3))
  }

  @Test("SYN-6 the changes before and after the damage of a change log are sent")
  func damaged() async throws {
    try place("damaged")
    let log = try await bench.open()
    guard case .journal(.damaged(_, let damage))? = log.quarantined?.problem else {
      Issue.record("\(String(describing: log.quarantined))")
      return
    }
    #expect(damage.sequence == 6)
    let key = "00000000-0000-4000-8000-00000000000"
    #expect(log.queue.pending.map(\.change.key) == [Identifier("\(key)4")])
    // The golden file of the undamaged log has the same changes.
    #expect(log.queue.failures.map(\.change.key) == [Identifier("\(key)3")])
    #expect(log.queue.failures.map(\.cause) == [.refused])
    try await log.close()
  }
}
