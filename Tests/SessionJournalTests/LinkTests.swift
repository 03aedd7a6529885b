import ChildProcesses
import Foundation
import SessionJournal
import Testing

@Suite("Links to a journal")
struct LinkTests {
  private let scratch: TemporaryFolder

  init() throws { scratch = try TemporaryFolder() }

  private func link(_ name: String, to target: String) throws -> String {
    let path = scratch.file(name)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    return path
  }

  /// Two other names of the same file: a symbolic link in another folder, and a hard link.
  private func otherNames(of path: String) throws -> [String] {
    let folder = scratch.file("other")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let hard = folder + "/hard.journal"
    try FileManager.default.linkItem(atPath: path, toPath: hard)
    return [try link("other/soft.journal", to: "../a.journal"), hard]
  }

  @Test("JRN-1 all spellings of a path share one lock next to the file")
  func oneLock() throws {
    let path = scratch.journal
    let journal = try Journal.open(at: path)
    let options = JournalOptions(lockDeadline: .milliseconds(20))
    let others = try otherNames(of: path).map { try Journal.open(at: $0, options: options) }
    #expect(try scratch.names == ["a.journal", "a.journal.lock", "other"])
    #expect(journal.path == path)
    let (done, _) = try journal.transact { _ in
      for other in others {
        let error = #expect(throws: JournalError.self) { try other.append([draft("between")]) }
        guard case .busy(other.path, _) = error else {
          Issue.record("\(other.path): \(String(describing: error))")
          continue
        }
        let opening = #expect(throws: JournalError.self) {
          try Journal.open(at: other.path, options: options)
        }
        guard case .busy(other.path, _) = opening else {
          Issue.record("\(other.path): \(String(describing: opening))")
          continue
        }
      }
      return ([draft("alone")], ())
    }
    #expect(done.appended.map(\.sequence) == [1])
    for other in others { _ = try other.append([draft("after")]) }
    #expect(try journal.catchUp().map(\.text) == ["after", "after"])
  }

  @Test(
    "JRN-1 a process that opened the journal by a link neither loses nor removes records",
    arguments: [0, 1])
  func otherProcess(name: Int) async throws {
    let path = scratch.journal
    let journal = try Journal.open(at: path, options: .init(lockDeadline: .seconds(600)))
    let other = try otherNames(of: path)[name]
    async let child = #expect(processExitsWith: .success) { [other = other as String] in
      let journal = try Journal.open(at: other, options: .init(lockDeadline: .seconds(600)))
      for number in 0..<40 { _ = try journal.append([draft("child \(number)"), draft("")]) }
      try journal.close()
    }
    var mine: [JournalRecord] = []
    var foreign: [JournalRecord] = []
    let deadline = ContinuousClock.now + .seconds(600)
    while foreign.count < 80 {
      // Allows the child to start while all threads of the pool run such loops.
      await Task.yield()
      let done = try journal.append([draft("parent")])
      foreign += done.foreign
      mine += done.appended
      try #require(
        ContinuousClock.now < deadline, "the other process wrote \(foreign.count) records")
    }
    _ = await child
    try journal.close()
    var reader = try JournalReader(path: path)
    var read: [JournalRecord] = []
    while let record = try reader.next() { read.append(record) }
    #expect(read == (foreign + mine).sorted { $0.sequence < $1.sequence })
    #expect(try reader.ending() == .clean)
  }

  @Test("JRN-2 a tail that is cut is kept next to the file, not next to the link")
  func keptAside() throws {
    let sample = try SampleJournal(closed: false)
    try FileManager.default.createDirectory(
      atPath: scratch.file("real"), withIntermediateDirectories: false)
    _ = try scratch.write(Array(sample.bytes.dropLast(5)), to: "real/b.journal")
    let link = try link("link", to: "real/b.journal")
    let aside = try #require(try Journal.open(at: link).recovery.repair?.keptAside)
    #expect(aside.hasSuffix("/real/b.journal.torn-5-0"))
    #expect(try contents(of: aside).count == sample.bytes.count - 5 - sample.boundaries[2])
    #expect(try scratch.names == ["link", "real"])
    // The reader follows links too.
    #expect(try JournalReader(path: link).identifier == Journal.open(at: link).identifier)
  }

  @Test("JRN-2 a link without a target is refused and stays")
  func dangling() throws {
    let target = scratch.file("gone.journal")
    let path = try link("link", to: target)
    #expect(throws: JournalError.danglingLink(path: path)) { try Journal.open(at: path) }
    #expect(throws: JournalError.missing(path: path)) { _ = try JournalReader(path: path) }
    #expect(try scratch.names == ["link"])
    let journal = try Journal.open(at: target)
    #expect(try Journal.open(at: path).identifier == journal.identifier)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == target)
  }

  @Test("JRN-1 a new journal in a linked folder is created once, with one lock")
  func linkedFolder() throws {
    try FileManager.default.createDirectory(
      atPath: scratch.file("real"), withIntermediateDirectories: false)
    let folder = try link("folder", to: "real")
    let journal = try Journal.open(at: folder + "/b.journal")
    #expect(journal.recovery.created)
    let again = try Journal.open(at: scratch.file("real/b.journal"))
    #expect(again.identifier == journal.identifier)
    // The link may change its target: an open journal keeps its file.
    try FileManager.default.removeItem(atPath: folder)
    #expect(try journal.append([draft("one")]).appended.map(\.sequence) == [1])
    #expect(try again.append([draft("two")]).foreign.map(\.text) == ["one"])
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.file("real"))
    #expect(names.sorted() == ["b.journal", "b.journal.lock"])
  }
}

@Suite("Backups")
struct BackupExclusionTests {
  @Test("JRN-1 the mark that excludes a file from backups equals the system's")
  func value() throws {
    let list = try PropertyListSerialization.propertyList(
      from: Data(BackupExclusion.value), format: nil)
    #expect(list as? String == "com.apple.backupd")
  }

  #if canImport(Darwin)
  @Test("JRN-1 a new journal is excluded from backups")
  func journal() throws {
    let scratch = try TemporaryFolder()
    try Journal.open(at: scratch.journal).close()
    let values = try URL(filePath: scratch.journal).resourceValues(forKeys: [
      .isExcludedFromBackupKey
    ])
    #expect(values.isExcludedFromBackup == true)
  }
  #endif
}
