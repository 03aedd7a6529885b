import ChildProcesses
import Foundation
import SessionJournal
import Synchronization
import Testing

@Suite("Closing, and the mode of the file")
struct ClosingTests {
  private let scratch: TemporaryFolder
  private let system = FaultyFileSystem()

  init() throws { scratch = try TemporaryFolder() }

  private func open() throws(JournalError) -> Journal {
    var options = JournalOptions.fixed
    options.fileSystem = system
    return try Journal.open(at: scratch.journal, options: options)
  }

  private var openFiles: Int { system.plan.withLock { $0.openFiles } }

  /// A journal whose last record has no watermark, with every file open that it can have.
  private func used() throws -> Journal {
    let journal = try open()
    _ = try journal.append([draft("one")])
    #expect(try journal.records(after: 0, limit: 1).count == 1)
    #expect(openFiles == 2)
    return journal
  }

  private func expectClosed(_ journal: Journal) throws {
    #expect(openFiles == 0)
    #expect(throws: JournalError.closed(path: scratch.journal)) { try journal.append([]) }
    try journal.close()
  }

  @Test("JRN-2 closing on a full disk closes the files without an error and keeps the records")
  func fullDisk() throws {
    let journal = try used()
    let before = try contents(of: scratch.journal)
    system.plan.withLock { $0.writeSizes = [7] }
    system.fail("write", ENOSPC)
    try journal.close()
    try expectClosed(journal)
    #expect(try contents(of: scratch.journal) == before)
    #expect(try open().lastSequence == 1)
  }

  @Test("JRN-2 closing a deleted or replaced journal closes the files without an error")
  func deleted() throws {
    let journal = try used()
    try FileManager.default.removeItem(atPath: scratch.journal)
    try journal.close()
    try expectClosed(journal)

    let next = try used()
    _ = try Journal.open(at: scratch.file("b.journal"))
    try POSIXFileSystem().rename(scratch.file("b.journal"), to: scratch.journal)
    try next.close()
    try expectClosed(next)

    let last = try used()
    try FileManager.default.removeItem(atPath: scratch.path)
    try last.close()
    try expectClosed(last)
    try FileManager.default.createDirectory(
      atPath: scratch.path, withIntermediateDirectories: false)
  }

  @Test("JRN-2 closing on a failing disk closes the files and throws", arguments: [EIO])
  func failingDisk(code: Int32) throws {
    for operation in ["write", "sync"] {
      let journal = try used()
      system.fail(operation, code)
      #expect(throws: JournalError.io(path: scratch.journal, operation: operation, code: code)) {
        try journal.close()
      }
      try expectClosed(journal)
    }
  }

  @Test("JRN-2 opening for writing resets a mode that gives other users access")
  func privateMode() throws {
    let path = scratch.journal
    try open().close()
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    _ = try JournalReader(path: path)
    #expect(try mode(of: path) == 0o644)
    try open().close()
    #expect(try mode(of: path) == 0o600)

    // A file of another user, to which this user may write: its owner decides.
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
    for code in [EPERM, EROFS, ENOTSUP] {
      system.plan.withLock { $0.modeFault = code }
      try open().close()
    }
    system.plan.withLock { $0.modeFault = EIO }
    #expect(throws: JournalError.io(path: path, operation: "protect", code: EIO)) { try open() }

    // A file that is not a journal keeps its mode.
    let text = try scratch.write(Array("no journal".utf8), to: "text")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: text)
    #expect(throws: JournalError.notAJournal(path: text)) { try Journal.open(at: text) }
    #expect(try mode(of: text) == 0o644)
  }

  @Test("JRN-1 a closed journal does not say whether others have appended")
  func newsAfterClosing() throws {
    let journal = try open()
    #expect(try !journal.hasNews())
    try journal.close()
    #expect(throws: JournalError.closed(path: scratch.journal)) { try journal.hasNews() }
  }

  #if os(Linux)
  @Test("JRN-2 a closed journal is free although a child process has inherited its files")
  func inherited() throws {
    // One file at a time, since a process takes both locks.
    for end in ["", ".lock"] {
      // This file system keeps each lock file open, so a child inherits that one too.
      let journal = try open()
      _ = try journal.append([draft("one")])
      let name = String(scratch.journal.suffix(48)) + end
      let files = try descriptors(endingIn: name)
      try #require(files.count == 1)
      let child = try sleeper(with: files[0])
      defer {
        child.send(SIGKILL)
        child.waitUntilExit()
      }
      try journal.close()
      // Only the child has that open file now, and nothing has its lock.
      #expect(try descriptors(endingIn: name).isEmpty)
      let file = try FileHandle(forUpdating: URL(filePath: scratch.journal + end))
      #expect(flock(file.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
      try file.close()
      var options = JournalOptions()
      options.lockDeadline = .milliseconds(20)
      let again = try Journal.open(at: scratch.journal, options: options)
      _ = try again.append([draft("two")])
      try again.close()
    }
  }
  #endif
}
