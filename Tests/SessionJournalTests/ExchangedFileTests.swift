import ChildProcesses
import Foundation
import SessionJournal
import Testing

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

  @Test(
    "JRN-1 catch-up and a follower refuse a file that was rewritten in place")
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
