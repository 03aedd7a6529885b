import Foundation
@_spi(Internals) import SessionChangeQueue
@_spi(Internals) import SessionCore
import SessionJournal
import Testing

@testable import SessionChanges
@testable import SessionKit

@Suite("A damaged change log")
struct ChangeQuarantineTests {
  private let bench: ChangeBench
  private let server = ChangeServer()

  init() throws { bench = try ChangeBench() }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: bench.folder.path)
      .filter { !$0.hasSuffix(".lock") }.sorted()
  }

  /// Adds a change for each number, closes the log and flips one bit in the payload of the last record.
  private func addAndDamage(_ numbers: ClosedRange<Int>) async throws -> Data {
    try await addAndDamage(
      numbers.map { ChangeBench.change(.create, $0, key: Identifier("k\($0)")) })
  }

  /// Adds these changes, closes the log and flips one bit in the payload of the first record that
  /// has this text, or of the last record.
  private func addAndDamage(_ changes: [Change], in text: String? = nil) async throws -> Data {
    let log = try await bench.open()
    for change in changes { try await log.add(change, through: bench.gate) }
    try await log.close()
    var offset: UInt64 = 0
    var reader = try JournalReader(path: bench.path)
    try reader.visit { frame, payload in
      offset = frame.offset
      guard let text else { return true }
      return payload.withUnsafeBytes { Data($0).range(of: Data(text.utf8)) == nil }
    }
    var bytes = try Data(contentsOf: URL(fileURLWithPath: bench.path))
    bytes[Int(offset) + 50] ^= 1
    try bytes.write(to: URL(fileURLWithPath: bench.path))
    return bytes
  }

  @Test("SYN-6 a damaged log is quarantined, and its readable changes are sent in order")
  func readableChangesGoOn() async throws {
    let damaged = try await addAndDamage(1...3)
    let log = try await bench.open()
    let quarantined = try #require(log.quarantined)
    guard case .journal(.damaged(let path, _)) = quarantined.problem else {
      Issue.record("\(quarantined)")
      return
    }
    #expect(path == quarantined.path && quarantined.recoveredCount == 2)
    let isKept = try Data(contentsOf: URL(fileURLWithPath: quarantined.path)) == damaged
    #expect(isKept && quarantined.path.contains(".aside-1-damaged-"))

    try await log.add(ChangeBench.change(.update, 1, key: "k4"), through: bench.gate)
    #expect(log.queue.pending.map(\.change.key) == ["k1", "k2", "k4"], "k1 may have been sent")
    let drained = try await log.drain(through: bench.gate) { server.take($0) }
    #expect(drained.acknowledged == 3 && server.arrivals == ["k1", "k2", "k4"])
    try await log.close()
  }

  @Test("SYN-6 a recovered log opens as usual the next time")
  func nextOpening() async throws {
    _ = try await addAndDamage(1...2)
    try await bench.open().close()
    let log = try await bench.open()
    #expect(log.quarantined == nil && log.queue.pending.map(\.change.key) == ["k1"])
    try await log.close()
    #expect(try names().filter { $0.contains(".aside-") }.count == 1)
  }

  @Test("SYN-6 a crash between the quarantine and the first batch loses nothing")
  func crashBeforeTheBatch() async throws {
    _ = try await addAndDamage(1...3)
    // As after a death that followed the rename and the creation of the new file.
    let options = ChangeLog.Setup().options
    let identity = try #require(try Journal.identity(at: bench.path, options: options))
    _ = try Journal.setAside(
      bench.path, identity, reason: "damaged", time: "20261122T120000Z", options: options)
    try Journal.open(at: bench.path).close()
    let log = try await bench.open()
    #expect(log.quarantined?.recoveredCount == 2)
    #expect(log.queue.pending.map(\.change.key) == ["k1", "k2"])
    try await log.close()
  }

  @Test("SYN-6 several logs that open a damaged file at once each have each change once")
  func openedAtOnce() async throws {
    _ = try await addAndDamage(1...4)
    let bench = bench
    let queues = try await withThrowingTaskGroup(of: [Identifier].self) { group in
      for _ in 1...4 {
        group.addTask {
          let log = try await bench.open()
          _ = try await log.pendingCount()
          let keys = log.queue.pending.map(\.change.key)
          try await log.close()
          return keys
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(queues.allSatisfy { $0 == ["k1", "k2", "k3"] }, "\(queues)")
    #expect(try names().filter { $0.contains(".aside-") }.count == 1)
  }

  @Test("SYN-6 an impossible record counts as damage, and the app decides about its change")
  func impossibleRecord() async throws {
    let log = try await bench.open()
    try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: bench.gate)
    try await log.close()
    let journal = try Journal.open(at: bench.path)
    let (kind, payload) = ChangeCodec.encode(.acknowledged("k9"), at: Timestamp(milliseconds: 0))
    _ = try journal.append([JournalDraft(kind: kind, payload: payload)])
    try journal.close()
    let again = try await bench.open()
    let problem = again.quarantined?.problem
    guard case .unusable(_, _, problem: "no change has the key k9")? = problem else {
      Issue.record("\(String(describing: problem))")
      return
    }
    // Only the first pending change is ever sent, so k1 had ended before k9 was acknowledged.
    #expect(again.queue.pending.isEmpty)
    #expect(again.queue.failures.map(\.change.key) == ["k1"])
    #expect(again.queue.failures.map(\.cause) == [.endUnknown])
    try await again.close()
  }

  @Test("SYN-6 a file without a readable header is quarantined, and the log begins empty")
  func unreadableHeader() async throws {
    try Data("not a journal at all".utf8).write(to: URL(fileURLWithPath: bench.path))
    let log = try await bench.open()
    guard case .journal(.notAJournal)? = log.quarantined?.problem else {
      Issue.record("\(String(describing: log.quarantined))")
      return
    }
    #expect(log.quarantined?.recoveredCount == 0 && log.queue == ChangeQueue())
    try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: bench.gate)
    try await log.close()
  }

  @Test("SYN-6 STO-3 a logout removes the quarantined file, which holds the user's text")
  func logout() async throws {
    _ = try await addAndDamage(1...3)
    let log = try await bench.open()
    try await log.end(
      SignIn(journal: ChangeBench.journal, generation: Generation(1)), of: "u-1", discards: true)
    #expect(try names().filter { $0.contains(".aside-") }.isEmpty)
    try await log.close()
  }

  @Test("SYN-6 an observer receives the queue, each newer queue, and the end of the log")
  func observedQueue() async throws {
    let log = try await bench.open()
    let seen = Task { [queues = log.queues] in
      var counts: [Int] = []
      for await queue in queues {
        counts.append(queue.pending.count)
        if counts.last == 2 { break }
      }
      return counts
    }
    for number in 1...2 {
      let change = ChangeBench.change(.create, number, key: Identifier("k\(number)"))
      try await log.add(change, through: bench.gate)
    }
    let counts = await seen.value
    #expect(counts.last == 2 && counts == counts.sorted(), "\(counts)")
    let ended = Task { [queues = log.queues] in
      for await _ in queues {}
    }
    try await log.close()
    await ended.value
  }
}
