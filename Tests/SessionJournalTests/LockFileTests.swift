import ChildProcesses
import Foundation
import Synchronization
import Testing

@testable import SessionJournal

@Suite("Lock files that stay open")
struct LockFileTests {
  @Test("SCL-2 JRN-2 of three journals one keeps its lock file open, and all take turns as before")
  func budget() throws {
    let scratch = try TemporaryFolder()
    let system = FaultyFileSystem(openLockFiles: OpenFileBudget(1))
    var options = JournalOptions()
    options.fileSystem = system
    let journals = try (0..<3).map { number in
      try Journal.open(at: scratch.file("\(number).journal"), options: options) { _, _ in }
    }
    let other = try Journal.open(at: scratch.file("2.journal")) { _, _ in }
    for round in 0..<3 {
      for journal in journals { _ = try journal.append([draft("\(round)")]) }
      _ = try other.append([draft("other")])
      #expect(system.plan.withLock { $0.openFiles } == 4, "three journals and one lock file")
    }
    #expect(try journals[2].records(after: 0, limit: 10).count == 5)
    #expect(try journals[2].catchUp().map(\.text) == ["other"])
    // The place of a journal that was closed is free for another one.
    try journals[0].close()
    _ = try journals[1].append([draft("kept")])
    #expect(system.plan.withLock { $0.openFiles } == 3)
    for journal in journals { try journal.close() }
    try other.close()
    #expect(system.plan.withLock { $0.openFiles } == 0)
  }

  @Test("SCL-2 JRN-2 a lock file that is opened for each commit is found again after its removal")
  func removed() throws {
    let scratch = try TemporaryFolder()
    var options = JournalOptions()
    options.fileSystem = FaultyFileSystem(openLockFiles: OpenFileBudget(0))
    let journal = try Journal.open(at: scratch.journal, options: options) { _, _ in }
    _ = try journal.append([draft("one")])
    try FileManager.default.removeItem(atPath: scratch.journal + ".lock")
    _ = try journal.append([draft("two")])
    #expect(FileManager.default.fileExists(atPath: scratch.journal + ".lock"))
    try journal.close()
  }

  @Test("SCL-2 JRN-2 a journal that found its lock taken keeps no lock file open without a place")
  func busy() throws {
    let scratch = try TemporaryFolder()
    let system = FaultyFileSystem(openLockFiles: OpenFileBudget(0))
    var options = JournalOptions()
    (options.fileSystem, options.lockDeadline) = (system, .milliseconds(50))
    let journal = try Journal.open(at: scratch.journal, options: options)
    let other = open(scratch.journal + ".lock", O_RDWR)
    #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
    #expect(throws: JournalError.self) { try journal.append([draft("one")]) }
    #expect(system.plan.withLock { $0.openFiles } == 1, "the journal")
    close(other)
    _ = try journal.append([draft("one")])
    try journal.close()
  }
}
