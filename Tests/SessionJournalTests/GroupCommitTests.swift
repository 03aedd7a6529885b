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
    of journal: Journal, count: Int, thenFailing fault: Int32? = nil,
    start: @escaping @Sendable (Int) -> Void
  ) async {
    await withTaskGroup { group in
      group.addTask { [system] in
        await withCheckedContinuation { done in
          Thread.detachNewThread {
            system.plan.withLock { plan in
              plan.whenSyncing = {
                for number in 0..<count {
                  Thread.detachNewThread { start(number) }
                }
                while journal.waitingCount < count { sched_yield() }
                if let fault { system.fail("write", fault) }
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

  @Test("JRN-1 an append decided on an older last record results in a conflict")
  func conflict() async throws {
    let path = scratch.journal
    let journal = try open()
    let other = try open()
    #expect(try journal.append([draft("1")], ifLastIs: 0).appended.map(\.sequence) == [1])
    #expect(throws: JournalError.conflict(path: path, expected: 0, found: 1)) {
      try other.append([draft("too late")], ifLastIs: 0)
    }
    // Records that were not delivered with the error arrive with the next success.
    let second = try other.append([draft("2")], ifLastIs: 1)
    #expect(second.foreign.map(\.text) == ["1"])
    await #expect(throws: JournalError.conflict(path: path, expected: 7, found: 2)) {
      try await journal.submit([draft("from the future")], ifLastIs: 7)
    }
    // A watermark of another object is not a record.
    try other.close()
    #expect(try journal.append([draft("3")], ifLastIs: 2).appended.map(\.sequence) == [4])
    #expect(try journal.append([draft("4")], ifLastIs: 4).appended.map(\.sequence) == [5])
  }

  @Test(
    "JRN-2 a fault of one batch fails its own caller; a fault of the write fails all")
  func errors() async throws {
    let path = scratch.journal
    let journal = try open()
    let large = JournalDraft(kind: 1, payload: [UInt8](repeating: 7, count: 4097))
    let outcomes = Mutex<[Int: Result<JournalTransaction, JournalError>]>([:])
    for fault in [nil, ENOSPC] as [Int32?] {
      outcomes.withLock { $0 = [:] }
      let finished = AsyncStream.makeStream(of: Void.self)
      await duringSync(of: journal, count: 4, thenFailing: fault) { number in
        let drafts = number == 2 ? [large] : [draft("\(number)")]
        let result = Result { () throws(JournalError) in try journal.append(drafts) }
        outcomes.withLock { $0[number] = result }
        finished.continuation.yield()
      }
      var left = 5
      for await _ in finished.stream {
        left -= 1
        if left == 0 { break }
      }
      let failures = outcomes.withLock { $0.compactMapValues { $0.failure } }
      #expect(failures[2] == .recordTooLarge(path: path, bytes: 4097, maximum: 4096))
      let others = failures.filter { $0.key != 2 }
      #expect(others.keys.sorted() == (fault == nil ? [] : [0, 1, 3]))
      #expect(others.values.allSatisfy { $0 == .diskFull(path: path) })
    }
    // The first of each round, and the three of the round without a fault.
    #expect(journal.lastSequence == 5)
    var reader = try JournalReader(path: path)
    #expect(try reader.ending() == .clean)
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

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
