import ChildProcesses
import Foundation
import SessionJournal
import Testing

@Suite("Transactions")
struct TransactionTests {
  private let scratch: TemporaryFolder
  private let system = FaultyFileSystem()

  init() throws { scratch = try TemporaryFolder() }

  private struct Refusal: Error, Equatable {
    let reason: String
  }

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
      throws: TransactionError<[String], Never>
        .appendFailed(.diskFull(path: path), value: ["of a peer"])
    ) {
      try commit([draft("too much")])
    }
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
    #expect(
      throws: TransactionError<[String], Never>.unavailable(.poisoned(path: path))
    ) {
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
