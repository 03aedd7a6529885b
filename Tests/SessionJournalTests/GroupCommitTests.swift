import ChildProcesses
import Foundation
import SessionJournal
import Synchronization
import Testing

@Suite("Appending together")
struct GroupCommitTests {
  private let scratch: TemporaryFolder
  private let system = FaultyFileSystem()

  init() throws { scratch = try TemporaryFolder() }

  private func open() throws(JournalError) -> Journal {
    var options = JournalOptions.fixed
    options.fileSystem = system
    return try Journal.open(at: scratch.journal, options: options)
  }

  private var syncs: Int { system.plan.withLock { $0.log.count { $0 == "sync" } } }

  /// Runs `body` during a sync of the journal, and waits for all that it started.
  private func duringSync(
    of journal: Journal, count: Int, start: @escaping @Sendable (Int) -> Void
  ) async {
    await withTaskGroup { group in
      group.addTask { [system] in
        await withCheckedContinuation { done in
          Thread.detachNewThread {
            system.plan.withLock { plan in
              plan.whenSyncing = {
                for number in 0..<count { Thread.detachNewThread { start(number) } }
                while journal.waitingCount < count { sched_yield() }
              }
            }
            start(-1)
            done.resume()
          }
        }
      }
    }
  }

  @Test("JRN-2 callers that arrive during a sync share the next one: two syncs for all")
  func ridesOn() async throws {
    let journal = try open()
    let before = syncs
    let results = Mutex<[Int: Result<JournalTransaction, JournalError>]>([:])
    let finished = AsyncStream.makeStream(of: Void.self)
    await duringSync(of: journal, count: 7) { number in
      let result = Result { () throws(JournalError) in
        try journal.append([draft("\(number) a"), draft("\(number) b")])
      }
      results.withLock { $0[number] = result }
      finished.continuation.yield()
    }
    var left = 8
    for await _ in finished.stream {
      left -= 1
      if left == 0 { break }
    }
    #expect(syncs - before == 2)
    // Every caller has the two records of its own batch, and the file has all of them.
    for (number, result) in results.withLock({ $0 }) {
      #expect(try result.get().appended.map(\.text) == ["\(number) a", "\(number) b"])
      #expect(try result.get().appended.map(\.remainingInBatch) == [1, 0])
    }
    #expect(try journal.records(after: 0, limit: 99).map(\.sequence) == Array(1...16))
    #expect(journal.lastSequence == 16)
  }

  @Test("JRN-2 tasks suspend instead of blocking, and each receives its own batch")
  func submitted() async throws {
    let journal = try open()
    let sequences = try await withThrowingTaskGroup(of: [UInt64].self) { group in
      for number in 0..<200 {
        group.addTask {
          let done = try await journal.submit([draft("\(number)"), draft("\(number)")])
          #expect(Set(done.appended.map(\.text)) == ["\(number)"])
          return done.appended.map(\.sequence)
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(sequences.sorted() == Array(1...400))
    var reader = try JournalReader(path: scratch.journal)
    #expect(try reader.ending() == .clean)
    #expect(reader.totals.records == 400)
  }

  @Test("JRN-2 a cancelled task's batch is durable when the call returns")
  func cancelled() async throws {
    let journal = try open()
    let task = Task { try await journal.submit([draft("all the same")]) }
    task.cancel()
    #expect(try await task.value.appended.map(\.sequence) == [1])
    #expect(try journal.records(after: 0, limit: 1).map(\.text) == ["all the same"])
  }

  @Test("JRN-1 each submission is served, also after the queue was empty", .timeLimit(.minutes(5)))
  func oneAfterTheOther() async throws {
    let journal = try open()
    for number in 1...3 {
      let appended = try await journal.submit([draft("\(number)")]).appended
      #expect(appended.map(\.sequence) == [UInt64(number)])
    }
  }
}

@Suite("Transactions")
struct TransactionTests {
  private let scratch: TemporaryFolder
  private let system = FaultyFileSystem()

  init() throws { scratch = try TemporaryFolder() }

  private struct Refusal: Error, Equatable { let reason: String }

  private typealias Failure = TransactionError<String, Refusal>

  private func open() throws(JournalError) -> Journal {
    var options = JournalOptions.fixed
    options.fileSystem = system
    return try Journal.open(at: scratch.journal, options: options)
  }

  /// Appends a record by another object.
  private func appendByPeer(_ text: String) throws -> [JournalRecord] {
    try Journal.open(at: scratch.journal).append([draft(text)]).appended
  }

  @Test("JRN-1 a transaction returns the value of its decision with the appended batch")
  func returnsTheValue() throws {
    let journal = try open()
    let peers = try appendByPeer("of a peer")
    let done = try journal.transact { foreign throws(Refusal) in
      guard foreign.count == 1 else { throw Refusal(reason: "\(foreign)") }
      return ([draft("mine")], foreign.map(\.text))
    }
    #expect(done.value == ["of a peer"])
    #expect(done.transaction.foreign == peers)
    #expect(done.transaction.appended.map(\.text) == ["mine"])
  }

  @Test("JRN-1 a refused transaction writes nothing and names the records that it received")
  func refuses() throws {
    let journal = try open()
    let peers = try appendByPeer("of a peer")
    let before = try contents(of: scratch.journal)
    let refusal = Refusal(reason: "not now")
    #expect(throws: Failure.refused(refusal, foreign: peers)) {
      try journal.transact { _ throws(Refusal) -> ([JournalDraft], String) in throw refusal }
    }
    #expect(try contents(of: scratch.journal) == before)
    #expect(try journal.catchUp() == [], "the refusal has received the records")
    #expect(try journal.append([draft("next")]).appended.map(\.sequence) == [2])
  }

  @Test("JRN-1 a transaction that gets no lock decides nothing, and a later one gets the records")
  func isUnavailable() throws {
    let path = scratch.journal
    let holder = try open()
    let hurried = try Journal.open(at: path, options: .init(lockDeadline: .milliseconds(10)))
    let peers = try appendByPeer("of a peer")
    try holder.locked { _ in
      let error = #expect(throws: Failure.self) {
        try hurried.transact { _ throws(Refusal) -> ([JournalDraft], String) in
          Issue.record("decided without the lock")
          return ([], "")
        }
      }
      guard case .unavailable(.busy(path, _)) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
    #expect(try hurried.locked { $0 } == peers)
  }

  @Test("JRN-2 a transaction whose append fails still hands out the value of its decision")
  func keepsTheValue() throws {
    let path = scratch.journal
    let journal = try open()
    _ = try appendByPeer("of a peer")
    func commit(_ drafts: [JournalDraft]) throws(TransactionError<[String], Never>) {
      _ = try journal.transact { (drafts, $0.map(\.text)) }
    }
    system.fail("write", ENOSPC)
    #expect(
      throws: TransactionError<[String], Never>.appendFailed(
        .diskFull(path: path), value: ["of a peer"])
    ) { try commit([draft("too much")]) }
    let reserved = JournalError.reservedKind(path: path, kind: 0)
    #expect(throws: TransactionError<[String], Never>.appendFailed(reserved, value: [])) {
      try commit([draft("reserved", kind: 0)])
    }
    #expect(try records(at: path).map(\.text) == ["of a peer"])
    system.fail("sync", EIO)
    let failed = JournalError.io(path: path, operation: "sync", code: EIO)
    #expect(throws: TransactionError<[String], Never>.appendFailed(failed, value: [])) {
      try commit([draft("perhaps durable")])
    }
    #expect(throws: TransactionError<[String], Never>.unavailable(.poisoned(path: path))) {
      try commit([])
    }
  }

  @Test("JRN-2 a transaction's error reads like the journal's error or the refusal")
  func describes() {
    let full = JournalError.diskFull(path: "/x")
    #expect("\(Failure.unavailable(full))" == full.description)
    #expect("\(Failure.appendFailed(full, value: "stored"))" == full.description)
    let refusal = Refusal(reason: "not now")
    #expect("\(Failure.refused(refusal, foreign: []))" == "\(refusal)")
    #expect(TransactionError<Int, Never>.appendFailed(full, value: 1).journalError == full)
  }
}
