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
        do throws(JournalError) { try Journal.delete(at: path, options: options) } catch {
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

/// Copies, cuts and rewrites of an open journal: acknowledged records are never silently replaced
/// by another history.
@Suite("A file that is exchanged, cut or rewritten")
struct ExchangedFileTests {
  private let scratch: TemporaryFolder

  init() throws { scratch = try TemporaryFolder() }

  private func isChanged(_ error: JournalError?) -> Bool {
    guard case .damaged(_, let damage) = error else { return false }
    return damage.flaw == .historyChanged
  }

  private func append(_ texts: [String], to path: String) throws {
    let journal = try Journal.open(at: path)
    for text in texts { _ = try journal.append([draft(text)]) }
    try journal.close()
  }

  /// Two files of one journal with different records after the second.
  private func diverged() throws -> (mine: Journal, other: String) {
    let path = scratch.journal
    let other = scratch.file("other.journal")
    try append(["1", "2"], to: path)
    try FileManager.default.copyItem(atPath: path, toPath: other)
    try append(["B", "B", "B", "B"], to: other)
    let mine = try Journal.open(at: path)
    for text in ["A", "A"] { _ = try mine.append([draft(text)]) }
    return (mine, other)
  }

  @Test("JRN-1 append and catch-up refuse a copy of the journal with another history")
  func divergedCopy() throws {
    for call in 0..<2 {
      let (mine, other) = try diverged()
      #expect(rename(other, mine.path) == 0)
      let error = #expect(throws: JournalError.self) {
        if call == 0 { _ = try mine.append([draft("x")]) } else { _ = try mine.catchUp() }
      }
      #expect(isChanged(error), "\(String(describing: error))")
      try FileManager.default.removeItem(atPath: mine.path)
    }
  }

  @Test("JRN-1 a follower reports that the file became another copy or an older one")
  func followedCopy() throws {
    let (mine, other) = try diverged()
    let follower = FollowedFile(path: mine.path, sequence: 0)
    while try follower.next() != nil {}
    #expect(rename(other, mine.path) == 0)
    #expect(isChanged(#expect(throws: JournalError.self) { try follower.next() }))

    let path = scratch.file("c.journal")
    let old = scratch.file("old.journal")
    try append(["1", "2"], to: path)
    try FileManager.default.copyItem(atPath: path, toPath: old)
    try append(["3", "4"], to: path)
    let second = FollowedFile(path: path, sequence: 0)
    while try second.next() != nil {}
    #expect(rename(old, path) == 0)
    #expect(isChanged(#expect(throws: JournalError.self) { try second.next() }))
  }

  @Test("JRN-1 a copy with another history is recognized by its records, not by later watermarks")
  func divergedBelowWatermark() throws {
    let path = scratch.journal
    let other = scratch.file("other.journal")
    try append(["1", "2"], to: path)
    try FileManager.default.copyItem(atPath: path, toPath: other)
    try append(["A"], to: path)
    try append(["B"], to: other)
    let mine = try Journal.open(at: path)
    #expect(rename(other, path) == 0)
    #expect(isChanged(#expect(throws: JournalError.self) { try mine.append([draft("x")]) }))
  }

  @Test("JRN-1 a follower that cannot find its last record again reports it")
  func unmetBelowWatermark() throws {
    let path = scratch.journal
    let other = scratch.file("other.journal")
    let mine = try Journal.open(at: path, options: .fixed)
    for text in ["1", "2"] { _ = try mine.append([draft(text)]) }
    try FileManager.default.copyItem(atPath: path, toPath: other)
    _ = try mine.append([draft("A")])
    let follower = FollowedFile(path: path, sequence: 0)
    while try follower.next() != nil {}
    // The copy has a watermark frame in the place of record 3.
    try Journal.open(at: other).close()
    try append(["B"], to: other)
    #expect(rename(other, path) == 0)
    #expect(isChanged(#expect(throws: JournalError.self) { try follower.next() }))
  }

  @Test("JRN-1 catch-up and a follower refuse a file that was rewritten in place")
  func rewrittenInPlace() throws {
    let (mine, other) = try diverged()
    let follower = FollowedFile(path: mine.path, sequence: 0)
    while try follower.next() != nil {}
    let bytes = try contents(of: other)
    let file = try FileHandle(forWritingTo: URL(filePath: mine.path))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: bytes)
    try file.close()
    #expect(isChanged(#expect(throws: JournalError.self) { try mine.catchUp() }))
    guard case .damaged? = #expect(throws: JournalError.self, performing: { try follower.next() })
    else {
      Issue.record("the follower goes on")
      return
    }
  }

  @Test("JRN-1 the error text does not claim that earlier records are intact")
  func words() {
    let damage = JournalDamage(offset: 80, sequence: 7, flaw: .historyChanged)
    let text = JournalError.damaged(path: "/a", damage).description
    #expect(text.contains("seq 7") && text.contains("replaced by another copy"))
    #expect(!text.contains("intact"))
  }

  @Test("JRN-1 a lock file that is a link is refused, and its target is not created")
  func linkedLock() throws {
    let path = scratch.journal
    #expect(symlink(scratch.file("elsewhere"), path + ".lock") == 0)
    #expect(throws: JournalError.self) { try Journal.open(at: path) }
    #expect(try scratch.names == ["a.journal.lock"])
  }
}
