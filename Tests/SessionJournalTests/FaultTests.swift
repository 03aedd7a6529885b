import ChildProcesses
import Foundation
import SessionJournal
import Synchronization
import Testing

@Suite("Faults")
struct FaultTests {
  private let scratch: TemporaryFolder
  private let system = FaultyFileSystem()

  init() throws { scratch = try TemporaryFolder() }

  private func open() throws(JournalError) -> Journal {
    var options = JournalOptions.fixed
    options.fileSystem = system
    return try Journal.open(at: scratch.journal, options: options)
  }

  @Test("JRN-2 a failed sync poisons the journal permanently and is not repeated")
  func failedSync() throws {
    let path = scratch.journal
    let journal = try open()
    _ = try journal.append([draft("first")])
    system.fail("sync", EIO)
    #expect(throws: JournalError.io(path: path, operation: "sync", code: EIO)) {
      try journal.append([draft("lost?")])
    }
    let calls = system.plan.withLock { $0.log.count }
    #expect(throws: JournalError.poisoned(path: path)) { try journal.append([draft("x")]) }
    #expect(throws: JournalError.poisoned(path: path)) { try journal.locked { _ in } }
    #expect(throws: JournalError.poisoned(path: path)) { try journal.catchUp() }
    #expect(throws: JournalError.poisoned(path: path)) { try journal.records(after: 0, limit: 1) }
    #expect(journal.lastSequence == 1)
    try journal.close()
    #expect(system.plan.withLock { $0.log.count } == calls)
    #expect(throws: JournalError.closed(path: path)) { try journal.append([draft("x")]) }
    // Another opening reads the records, makes them durable, and continues.
    let again = try open()
    #expect(again.lastSequence == 2)
    #expect(try again.append([draft("third")]).appended.map(\.sequence) == [3])
  }

  @Test("JRN-2 a write that cannot be undone poisons the journal")
  func failedRollback() throws {
    let path = scratch.journal
    let journal = try open()
    system.plan.withLock { $0.writeSizes = [16] }
    system.fail("write", ENOSPC)
    system.fail("truncate", EIO)
    // Not `diskFull`, which says that nothing was changed.
    #expect(throws: JournalError.io(path: path, operation: "truncate", code: EIO)) {
      try journal.append([draft("half")])
    }
    #expect(throws: JournalError.poisoned(path: path)) { try journal.append([draft("x")]) }
    let again = try open()
    guard case .torn = again.recovery.repair?.ending else {
      Issue.record("not reported: \(again.recovery)")
      return
    }
    #expect(again.lastSequence == 0)
  }

  @Test("JRN-2 a read error throws and never cuts the file")
  func readErrors() throws {
    let sample = try SampleJournal(closed: false)
    let bytes = Array(sample.bytes.dropLast(5))
    let path = try scratch.write(bytes)
    // The header, the frames, the search after them, the copy of the cut bytes.
    var working = 0
    while true {
      system.plan.withLock { $0.readsLeft = working }
      do {
        let journal = try open()
        #expect(journal.recovery.repair != nil)
        break
      } catch {
        #expect(error == .io(path: path, operation: "read", code: EIO))
      }
      #expect(try contents(of: path) == bytes)
      #expect(try scratch.names.count == (working == 0 ? 1 : 2))
      working += 1
      try #require(working < 100)
    }
    #expect(working >= 4)
  }

  @Test("JRN-2 a draft of an interrupted creation that cannot be removed is reported as such")
  func draftStays() throws {
    let path = scratch.journal
    let draft = try scratch.write([1], to: "a.journal.new")
    system.fail("remove", EIO)
    #expect(throws: JournalError.io(path: path, operation: "remove", code: EIO)) { try open() }
    #expect(try contents(of: draft) == [1])
    try open().close()
    #expect(!FileManager.default.fileExists(atPath: draft))
  }

  @Test(
    "JRN-2 a read error while others' records are read throws, and loses none of them",
    arguments: [false, true])
  func readErrorsOfOthers(isBrief: Bool) throws {
    system.plan.withLock { $0.isReadFaultBrief = isBrief }
    let (journal, other) = (try open(), try Journal.open(at: scratch.journal))
    var working = 0
    while true {
      let new = try other.append([draft("one"), draft("two")]).appended
      system.plan.withLock { $0.readsLeft = working }
      let isRead: Bool
      do {
        #expect(try journal.catchUp() == new)
        isRead = true
      } catch {
        #expect(error == .io(path: scratch.journal, operation: "read", code: EIO))
        isRead = false
      }
      system.plan.withLock { $0.readsLeft = .max }
      if isRead { break }
      #expect(try journal.catchUp() == new)
      working += 1
      try #require(working < 100)
    }
    #expect(working >= 1)
  }

  @Test("JRN-1 a transaction that cannot take the lock decides and writes nothing")
  func withoutLock() throws {
    let journal = try open()
    _ = try journal.append([draft("one")])
    let before = try contents(of: scratch.journal)
    try FileManager.default.removeItem(atPath: scratch.journal + ".lock")
    system.fail("open creating", EIO)
    var isAsked = false
    #expect(throws: (any Error).self) {
      try journal.transact { _ in
        isAsked = true
        return ([draft("two")], ())
      }
    }
    #expect(!isAsked)
    #expect(try contents(of: scratch.journal) == before)
    _ = try journal.append([draft("three")])
    #expect(journal.lastSequence == 2)
  }

  @Test("JRN-2 an interrupted recovery leaves the tail, and the next one finishes it")
  func interruptedRecovery() throws {
    let sample = try SampleJournal(closed: false)
    let bytes = Array(sample.bytes.dropLast(5))
    let path = try scratch.write(bytes)
    for operation in [
      "sync", "syncFolder",
      "open creatingOnly", "open creatingOnly", "write", "syncAll", "truncate",
    ] {
      system.fail(operation, EIO)
      #expect(throws: JournalError.self, "\(operation)") { try open() }
      #expect(system.plan.withLock { $0.faults[operation] } == [], "\(operation) was not called")
      #expect(try contents(of: path) == bytes, "\(operation)")
    }
    // The copy of the interrupted recovery is still there: the next one takes number 1.
    system.plan.withLock { $0.log = [] }
    let done = try open()
    #expect(
      system.plan.withLock { $0.log } == [
        "open writing", "open creating", "write", "sync", "syncFolder",
        "open creatingOnly", "open creatingOnly", "write",
        "syncAll", "syncFolder", "truncate", "syncAll",
      ])
    let aside = try #require(done.recovery.repair?.keptAside)
    #expect(try contents(of: aside) == Array(bytes[sample.boundaries[2]...]))
    #expect(done.lastSequence == 4)
  }

  @Test("JRN-2 an opening ends although another program cuts the file while its tail is copied")
  func cutDuringCopy() throws {
    let sample = try SampleJournal(closed: false)
    let bytes = Array(sample.bytes.dropLast(5))
    let path = try scratch.write(bytes)
    let start = sample.boundaries[2]
    system.plan.withLock { $0.whenCreating = { truncate(path, off_t(start + 3)) } }
    let journal = try open()
    let aside = try #require(journal.recovery.repair?.keptAside)
    #expect(try contents(of: aside) == Array(bytes[start..<(start + 3)]))
    #expect(try contents(of: path) == Array(bytes[..<start]))
    #expect(journal.lastSequence == 4)
  }

  @Test("JRN-2 a failed creation leaves no journal, and the next one creates it")
  func interruptedCreation() throws {
    for operation in ["open creatingOnly", "write", "syncAll", "rename"] {
      system.fail(operation, EIO)
      #expect(throws: JournalError.self, "\(operation)") { try open() }
      #expect(try scratch.names == ["a.journal.lock"], "\(operation)")
    }
    for code in [ENOSPC, EDQUOT, EFBIG] {
      system.fail("write", code)
      #expect(throws: JournalError.noRoomToCreate(path: scratch.journal)) { try open() }
      #expect(try scratch.names == ["a.journal.lock"])
    }
    try FileManager.default.removeItem(atPath: scratch.file("a.journal.lock"))
    system.fail("open creating", ENOSPC)
    #expect(throws: JournalError.noRoomToCreate(path: scratch.journal)) { try open() }
    #expect(try scratch.names == [])
    _ = try scratch.write([1, 2, 3], to: "a.journal.new")
    #expect(try open().recovery.created)
    #expect(try scratch.names == ["a.journal", "a.journal.lock"])
  }

  @Test("JRN-2 every error says what happened, where, and what to do")
  func sentences() {
    let damage = JournalDamage(offset: 1_009_912, sequence: 63, flaw: .payloadChecksum)
    let errors: [JournalError] = [
      .missing(path: "/x"), .folderMissing(path: "/x"), .isDirectory(path: "/x"),
      .danglingLink(path: "/x"),
      .notARegularFile(path: "/x"), .permissionDenied(path: "/x"), .readOnlyFolder(path: "/x"),
      .empty(path: "/x"), .notAJournal(path: "/x"), .headerDamaged(path: "/x"),
      .newerFormat(path: "/x", found: 2, supported: 1), .damaged(path: "/x", damage),
      .unknownFeatures(path: "/x", features: 16),
      .replaced(path: "/x", expected: .random(), found: .random()), .diskFull(path: "/x"),
      .noRoomToCreate(path: "/x"),
      .io(path: "/x", operation: "read", code: EIO), .busy(path: "/x", waited: 5000),
      .poisoned(path: "/x"), .recordTooLarge(path: "/x", bytes: 9, maximum: 8),
      .batchTooLarge(path: "/x", records: 1, bytes: 2), .reservedKind(path: "/x", kind: 0),
      .closed(path: "/x"),
    ]
    #expect(Set(errors.map(\.description)).count == errors.count)
    for error in errors {
      #expect(error.description.contains("/x"))
      #expect(error.description.split(separator: ". ").count >= 2, "\(error)")
    }
    #expect(
      "\(JournalError.damaged(path: "/x", damage))".hasPrefix(
        "/x is damaged at byte 1,009,912 (seq 63): checksum mismatch."))
    for (offset, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_000_064, "1,000,064")] {
      let damage = JournalDamage(offset: UInt64(offset), sequence: 1, flaw: .payloadChecksum)
      #expect("\(JournalError.damaged(path: "/x", damage))".contains("at byte \(text) (seq 1)"))
    }
    let io = JournalError.io(path: "/x", operation: "read", code: EIO)
    #expect("\(io)".contains("Input/output error (errno 5)"))
    #expect("\(JournalError.unknownFeatures(path: "/x", features: 16))".contains("bits 0x10"))
    #expect("\(JournalError.emptyPath)".hasPrefix("The path of the journal is empty."))
  }
}
