import ChildProcesses
import Foundation
import SessionJournal
import Synchronization
import Testing

@Suite("Deleting a journal")
struct DeletionTests {
  private let scratch: TemporaryFolder

  init() throws { scratch = try TemporaryFolder() }

  @Test("JRN-1 deletion removes all files of the journal and no others")
  func everything() throws {
    let path = scratch.journal
    let journal = try Journal.open(at: path)
    _ = try journal.append([draft("secret")])
    let others = [
      "a.journal.torn-x-1", "a.journal.torn-1", "a.journal.torn-1-2-3", "a.journal.new2",
      "b.journal.torn-1-0", "a.journal.bak", "xa.journal.new",
    ]
    for name in ["a.journal.new", "a.journal.torn-5-0", "a.journal.torn-12-3"] + others {
      _ = try scratch.write([1], to: name)
    }
    try Journal.delete(at: path)
    #expect(try scratch.names == others.sorted())
    #expect(throws: JournalError.missing(path: path)) { try Journal.delete(at: path) }
    #expect(throws: JournalError.missing(path: path)) { try journal.append([draft("more")]) }
  }

  @Test("JRN-1 STO-3 kept tails and quarantined files can be deleted without the journal")
  func keptFiles() throws {
    let path = scratch.journal
    let journal = try Journal.open(at: path)
    _ = try journal.append([draft("one")])
    let names = try scratch.names
    for name in ["a.journal.torn-5-0", "a.journal.aside-1-damaged-1", "b.journal.torn-5-0"] {
      _ = try scratch.write([1], to: name)
    }
    for _ in 0..<2 {
      try Journal.deleteKept(at: path)
      #expect(try scratch.names == (names + ["b.journal.torn-5-0"]).sorted())
    }
    _ = try journal.append([draft("two")])
    #expect(try records(at: path).map(\.text) == ["one", "two"])
    let missing = scratch.file("c.journal")
    #expect(throws: JournalError.missing(path: missing)) { try Journal.deleteKept(at: missing) }
  }

  @Test("JRN-1 STO-3 a kept file that cannot be deleted is reported")
  func keptFilesStay() throws {
    let path = scratch.journal
    try Journal.open(at: path).close()
    _ = try scratch.write([1], to: "a.journal.torn-5-0")
    for operation in ["list", "remove", "syncFolder"] {
      let system = FaultyFileSystem()
      system.fail(operation, EIO)
      var options = JournalOptions()
      options.fileSystem = system
      let error = #expect(throws: JournalError.self) {
        try Journal.deleteKept(at: path, options: options)
      }
      guard case .io = error else {
        Issue.record("\(operation): \(String(describing: error))")
        continue
      }
    }
  }

  @Test("JRN-1 a deletion that is interrupted at any call is complete after it is repeated")
  func interrupted() throws {
    let path = scratch.journal
    for (operation, code) in [("syncFolder", EIO), ("list", EIO), ("remove", EIO)] {
      for skipped in 0..<4 {
        try Journal.open(at: path).close()
        _ = try scratch.write([1], to: "a.journal.torn-5-0")
        let system = FaultyFileSystem()
        var options = JournalOptions()
        options.fileSystem = system
        system.plan.withLock { $0.skipped[operation] = skipped }
        system.fail(operation, code)
        var isInterrupted = false
        do throws(JournalError) {
          try Journal.delete(at: path, options: options)
        } catch {
          guard case .io = error else { throw error }
          isInterrupted = true
        }
        #expect(
          isInterrupted == (skipped < (operation == "syncFolder" ? 2 : operation == "list" ? 1 : 3))
        )
        if isInterrupted, try !scratch.names.isEmpty { try Journal.delete(at: path) }
        #expect(try scratch.names == [])
      }
    }
  }

  @Test("JRN-1 a file that is not a journal is left alone and gets no lock file")
  func foreign() throws {
    let path = try scratch.write(Array("a letter".utf8), to: "letter")
    #expect(throws: JournalError.notAJournal(path: path)) { try Journal.delete(at: path) }
    #expect(throws: JournalError.isDirectory(path: scratch.path)) {
      try Journal.delete(at: scratch.path)
    }
    let nowhere = scratch.file("no/a.journal")
    #expect(throws: JournalError.folderMissing(path: nowhere)) { try Journal.delete(at: nowhere) }
    #expect(try scratch.names == ["letter"])
    // A damaged journal can still be deleted.
    let sample = try SampleJournal(closed: true)
    var bytes = sample.bytes
    bytes[20] ^= 1
    let damaged = try scratch.write(bytes)
    try Journal.delete(at: damaged)
    #expect(try scratch.names == ["letter"])
  }

  @Test("JRN-1 nothing is deleted while another process holds the lock")
  func busy() throws {
    let path = scratch.journal
    let journal = try Journal.open(at: path)
    _ = try journal.transact { _ in
      let error = #expect(throws: JournalError.self) {
        try Journal.delete(at: path, options: .init(lockDeadline: .milliseconds(10)))
      }
      guard case .busy = error else {
        Issue.record("\(String(describing: error))")
        return ([], ())
      }
      return ([draft("still here")], ())
    }
    #expect(try records(at: path).map(\.text) == ["still here"])
  }
}
