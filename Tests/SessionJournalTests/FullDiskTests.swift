import ChildProcesses
import Foundation
import SessionJournal
import Testing

/// A disk that is really full, if this process may mount one.
///
/// If it may not, `PrivilegeTests` limits the size of files.
@Suite("A full disk", .enabled(if: MountedDisk.isAllowed, "mounting takes root"))
struct FullDiskTests {
  @Test("JRN-2 append, transact and submit fail as diskFull, change nothing and work again later")
  func appending() async throws {
    let disk = try MountedDisk()
    let path = disk.folder + "/a.journal"
    let journal = try Journal.open(at: path)
    var kept = try journal.append([draft("first")]).appended
    try disk.fill()
    // A batch that fits into the reserved room still succeeds.
    kept += try journal.append([draft("in the room")]).appended
    let before = try contents(of: path)
    let large = JournalDraft(kind: 1, payload: [UInt8](repeating: 7, count: 200_000))
    #expect(throws: JournalError.diskFull(path: path)) { try journal.append([large]) }
    #expect(throws: TransactionError<Int, Never>.appendFailed(.diskFull(path: path), value: 17)) {
      try journal.transact { _ in ([large], 17) }
    }
    await #expect(throws: JournalError.diskFull(path: path)) { try await journal.submit([large]) }
    let after = try contents(of: path)
    let end = try #require(kept.last.map { Int($0.offset) + 32 + 16 })
    #expect(after.starts(with: before.prefix(end)))
    #expect(try records(at: path) == kept)
    try disk.empty()
    kept += try journal.append([large]).appended
    #expect(try records(at: path) == kept)
    #expect(try journal.records(after: 0, limit: 9) == kept)
  }

  @Test("JRN-2 a creation without room fails and leaves only the lock, and a full disk still opens")
  func creating() throws {
    let disk = try MountedDisk()
    let old = disk.folder + "/old.journal"
    let first = try Journal.open(at: old).append([draft("first")]).appended
    try disk.fill()
    let path = disk.folder + "/new.journal"
    do {
      _ = try Journal.open(at: path)
      Issue.record("a journal was made without room")
    } catch {
      guard case .noRoomToCreate(path) = error else {
        Issue.record("\(error)")
        return
      }
    }
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    #expect(try Journal.open(at: old).lastSequence == 1)
    #expect(try records(at: old) == first)
    try disk.empty()
    #expect(try Journal.open(at: path).recovery.created)
  }

  @Test("JRN-4 a compaction or repair without room keeps the old file, and both succeed later")
  func compactingAndRepairing() throws {
    let disk = try MountedDisk()
    let path = disk.folder + "/a.journal"
    let journal = try Journal.open(at: path)
    for number in 0..<20 { _ = try journal.append([draft("record \(number)")]) }
    try disk.fill()
    let before = try contents(of: path)
    #expect(throws: JournalError.diskFull(path: path)) {
      try journal.compact(keepingFrom: 10, summary: TextSummary())
    }
    #expect(try contents(of: path) == before)
    #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    // Closing writes its watermark into the reserved room and releases the rest.
    try journal.close()
    try disk.empty()
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.seekToEnd()
    try file.write(contentsOf: [UInt8](repeating: 9, count: 50))
    try file.close()
    try disk.fill()
    let torn = try contents(of: path)
    // The copy has no room, so nothing is cut, and nothing is appended after the tail.
    let opened = try Journal.open(at: path)
    #expect(opened.recovery.repair == nil)
    #expect(opened.recovery.totals.records == 20)
    #expect(try opened.records(after: 0, limit: 99).count == 20)
    #expect(throws: JournalError.diskFull(path: path)) { try opened.append([draft("too early")]) }
    #expect(try contents(of: path) == torn)
    try disk.empty()
    let done = try opened.append([draft("with room")])
    #expect(done.repair != nil)
    #expect(done.appended.map(\.sequence) == [22])
    #expect(try opened.compact(keepingFrom: 10, summary: TextSummary()) != nil)
    #expect(try opened.append([draft("last")]).appended.map(\.sequence) == [24])
  }
}
