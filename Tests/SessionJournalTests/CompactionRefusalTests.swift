import ChildProcesses
import Foundation
import SessionJournal
import Synchronization
import Testing

@Suite("Compactions that are refused")
struct CompactionRefusalTests {
  private let scratch: TemporaryFolder

  init() throws { scratch = try TemporaryFolder() }

  private func sample(_ system: FaultyFileSystem? = nil) throws -> Journal {
    var options = JournalOptions.fixed
    if let system { options.fileSystem = system }
    let journal = try Journal.open(at: scratch.journal, options: options)
    for text in ["one", "two", "three"] { _ = try journal.append([draft(text)]) }
    return journal
  }

  /// The error of a compaction, after which the journal is unchanged and usable.
  private func refusal(
    _ journal: Journal, _ summary: TextSummary = TextSummary(),
    at place: SourceLocation = #_sourceLocation
  ) throws -> JournalError? {
    let before = try contents(of: journal.path)
    let error = #expect(throws: JournalError.self, sourceLocation: place) {
      try journal.compact(keepingFrom: 3, summary: summary)
    }
    #expect(try contents(of: journal.path) == before, sourceLocation: place)
    #expect(try !scratch.names.contains("a.journal.new"), sourceLocation: place)
    let next = journal.lastSequence + 1
    #expect(
      try journal.append([draft("on")]).appended.map(\.sequence) == [next], sourceLocation: place)
    return error
  }

  @Test("JRN-4 a compaction of a file with other hard links is refused")
  func hardLink() throws {
    let journal = try sample()
    let other = scratch.file("b.journal")
    try FileManager.default.linkItem(atPath: journal.path, toPath: other)
    #expect(try refusal(journal) == .hardLinked(path: journal.path, links: 2))
    #expect(throws: JournalError.hardLinked(path: journal.path, links: 2)) {
      try Journal.delete(at: journal.path)
    }
    try FileManager.default.removeItem(atPath: other)
    #expect(try journal.compact(keepingFrom: 3, summary: TextSummary())?.firstSequence == 3)
  }

  @Test("JRN-4 a compaction fails if the folder accepts no new file")
  func readOnlyFolder() throws {
    let system = FaultyFileSystem()
    let journal = try sample(system)
    system.fail("open creatingOnly", EACCES)
    #expect(try refusal(journal) == .readOnlyFolder(path: journal.path))
    system.fail("open creatingOnly", EROFS)
    #expect(try refusal(journal) == .readOnlyFolder(path: journal.path))
  }

  @Test("JRN-4 damage that a compaction meets is reported, and nothing is changed")
  func damage() throws {
    for (sequence, offset) in [(1, 64), (2, 104)] as [(UInt64, UInt64)] {
      let journal = try sample()
      var bytes = try contents(of: journal.path)
      bytes[Int(offset) + 33] ^= 1
      let file = try FileHandle(forWritingTo: URL(filePath: journal.path))
      try file.write(contentsOf: bytes)
      try file.close()
      let found = JournalDamage(offset: offset, sequence: sequence, flaw: .payloadChecksum)
      #expect(try refusal(journal) == .damaged(path: journal.path, found))
      try FileManager.default.removeItem(atPath: journal.path)
    }
  }

  @Test("JRN-4 a fold that loses records is detected before the new file is used")
  func unfaithful() throws {
    let journal = try sample()
    #expect(
      try refusal(journal, TextSummary(forgets: true))
        == .compactionRefused(path: journal.path, .summaryDiffers))
    _ = try journal.append([draft(String(repeating: "x", count: 4090))])
    let error = #expect(throws: JournalError.self) {
      try journal.compact(keepingFrom: .max, summary: TextSummary())
    }
    let long = 4090 + "one\ntwo\nthree\non\n".utf8.count
    #expect(
      error
        == .compactionRefused(
          path: journal.path, .snapshotTooLarge(bytes: long, maximum: 4096)))
    #expect(try scratch.names == ["a.journal", "a.journal.lock"])
  }

  @Test("JRN-4 the next opening or compaction removes the rest of an interrupted one")
  func leftover() throws {
    let journal = try sample()
    _ = try scratch.write([1, 2, 3], to: "a.journal.new")
    #expect(try journal.compact(keepingFrom: 3, summary: TextSummary()) != nil)
    #expect(try scratch.names == ["a.journal", "a.journal.lock"])
    _ = try scratch.write([1, 2, 3], to: "a.journal.new")
    _ = try Journal.open(at: journal.path)
    #expect(try scratch.names == ["a.journal", "a.journal.lock"])
  }

  @Test("JRN-4 a journal of another user is not compacted", .enabled(if: geteuid() == 0))
  func otherOwner() throws {
    let journal = try sample()
    try #require(chown(journal.path, 12_345, 12_345) == 0)
    #expect(try refusal(journal) == .compactionRefused(path: journal.path, .otherOwner))
  }

  @Test("JRN-4 closed, poisoned and missing journals are not compacted")
  func unusable() throws {
    let journal = try sample()
    try FileManager.default.removeItem(atPath: journal.path)
    #expect(throws: JournalError.missing(path: journal.path)) {
      try journal.compact(keepingFrom: 2, summary: TextSummary())
    }
    try journal.close()
    #expect(throws: JournalError.closed(path: journal.path)) {
      try journal.compact(keepingFrom: 2, summary: TextSummary())
    }
  }

  @Test("JRN-4 each error of a compaction says what happened and what to do")
  func words() {
    let refusals: [CompactionRefusal] = [
      .snapshotTooLarge(bytes: 9, maximum: 8), .otherOwner, .copyDiffers, .summaryDiffers,
    ]
    var texts = refusals.map { JournalError.compactionRefused(path: "/x", $0).description }
    texts.append(JournalError.hardLinked(path: "/x", links: 2).description)
    for text in texts {
      #expect(text.hasPrefix("/x "))
      #expect(text.hasSuffix("."))
      #expect(!text.contains("The journal failed"))
    }
    #expect(Set(texts).count == 5)
  }
}
