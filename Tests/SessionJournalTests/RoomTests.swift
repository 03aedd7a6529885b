import ChildProcesses
import Foundation
import SessionJournal
import Synchronization
import Testing

@Suite("Reserved room")
struct RoomTests {
  private let scratch: TemporaryFolder
  private let system = FaultyFileSystem()

  init() throws { scratch = try TemporaryFolder() }

  private func open() throws(JournalError) -> Journal {
    var options = JournalOptions.fixed
    options.fileSystem = system
    options.room = PreallocationRule(step: 1024)
    return try Journal.open(at: scratch.journal, options: options)
  }

  private func size() throws -> Int { try contents(of: scratch.journal).count }

  @Test("JRN-2 the file grows in steps and always reads as clean")
  func steps() throws {
    let journal = try open()
    var sizes: Set<Int> = []
    for number in 1...40 {
      _ = try journal.append([draft("\(number)")])
      sizes.insert(try size())
      var reader = try JournalReader(path: scratch.journal)
      #expect(try reader.ending() == .clean)
      #expect(reader.totals.lastSequence == UInt64(number))
    }
    #expect(sizes == [1024, 2048])
    // Another object finds room and nothing to repair.
    let other = try open()
    #expect(other.recovery.repair == nil)
    _ = try other.append([draft("41")])
    #expect(try journal.append([draft("42")]).foreign.map(\.text) == ["41"])
    try other.close()
    try journal.close()
    #expect(try size() == 64 + 42 * 40 + 32)
  }

  @Test("JRN-2 by default, the file grows in steps of 64 KiB")
  func standard() throws {
    var options = JournalOptions.fixed
    options.room = .standard
    let journal = try Journal.open(at: scratch.journal, options: options)
    _ = try journal.append([draft("one")])
    #expect(try size() == 65_536)
  }

  @Test("JRN-2 RES-6 a full disk still accepts appends into the reserved room")
  func reserve() throws {
    var options = JournalOptions.fixed
    options.fileSystem = system
    options.room = PreallocationRule(step: 1024, reserve: 512)
    let journal = try Journal.open(at: scratch.journal, options: options)
    var count = 0
    // Up to the point at which the next record leaves less than the reserve.
    while 64 + (count + 1) * 40 + 512 <= 1024 {
      count += 1
      _ = try journal.append([draft("\(count)")])
      #expect(try size() == 1024)
    }
    // The disk is full: no write that extends the file succeeds.
    let before = count
    while 64 + (count + 1) * 40 <= 1024 {
      count += 1
      system.fail("write", ENOSPC)
      _ = try journal.append([draft("\(count)")])
      #expect(try size() == 1024)
    }
    #expect(count - before >= 512 / 40)
    system.fail("write", ENOSPC, ENOSPC)
    #expect(throws: JournalError.diskFull(path: scratch.journal)) {
      _ = try journal.append([draft("more")])
    }
    // There is space again.
    _ = try journal.append([draft("more")])
    #expect(try size() == 2048)
    try journal.close()
    var reader = try JournalReader(path: scratch.journal)
    #expect(try reader.ending() == .clean)
    #expect(reader.totals.lastSequence == UInt64(count) + 2)
  }

  @Test("JRN-2 a disk with room only for the batch accepts the batch")
  func fullDisk() throws {
    let journal = try open()
    system.fail("write", ENOSPC)
    _ = try journal.append([draft("fits")])
    #expect(try size() == 64 + 40)
    #expect(throws: JournalError.diskFull(path: scratch.journal)) {
      system.fail("write", ENOSPC, ENOSPC)
      _ = try journal.append([draft("does not")])
    }
    #expect(try size() == 64 + 40)
    _ = try journal.append([draft("fits again")])
    #expect(try size() == 1024)
  }

  @Test("JRN-2 a batch that lacks only zeros in the room is whole and not refused")
  func padding() throws {
    let journal = try open()
    _ = try journal.append([draft("takes room")])
    // The first batch, and the second without its padding.
    system.plan.withLock { $0.writeSizes = [40 + 33] }
    system.fail("write", EIO)
    let outcomes = journal.append(together: [[draft("8 bytes.")], [draft("b")], [draft("c")]])
    let sequences = try outcomes.prefix(2).map { try $0.get().appended.map(\.sequence) }
    #expect(sequences == [[2], [3]])
    let refusal = JournalError.io(path: scratch.journal, operation: "write", code: EIO)
    #expect(throws: refusal) { try outcomes[2].get() }
    var reader = try JournalReader(path: scratch.journal)
    #expect(try reader.ending() == .clean)
    #expect(reader.totals.records == 3)
    #expect(try journal.append([draft("goes on")]).appended.map(\.sequence) == [4])
  }
}

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
