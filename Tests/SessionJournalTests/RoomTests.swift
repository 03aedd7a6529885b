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

  private func open(
    step: UInt64 = 1024, durability: JournalOptions.Durability = .everyCommit
  ) throws(JournalError) -> Journal {
    var options = JournalOptions.fixed
    options.fileSystem = system
    options.room = PreallocationRule(step: step)
    options.durability = durability
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

  @Test("JRN-2 without a sync per commit, records are synced by closing, which proves them")
  func operatingSystem() throws {
    let journal = try open(durability: .operatingSystem)
    let before = system.plan.withLock { $0.log.count { $0 == "sync" } }
    for number in 1...5 { _ = try journal.append([draft("\(number)")]) }
    #expect(system.plan.withLock { $0.log.count { $0 == "sync" } } == before)
    // No frame claims that one of them is durable.
    var reader = try JournalReader(path: scratch.journal)
    try reader.visit { frame, _ in
      #expect(frame.durableSequence == 0)
      return true
    }
    #expect(try size() == 64 + 5 * 40)
    try journal.close()
    #expect(system.plan.withLock { $0.log.count { $0 == "sync" } } == before + 2)
    var closed = try JournalReader(path: scratch.journal)
    #expect(try closed.ending() == .clean)
    #expect(closed.totals.watermarks == 1)
  }
}
