import ChildProcesses
import Foundation
import Synchronization
import Testing

@testable import SessionJournal

@Suite("Following")
struct FollowerTests {
  private let scratch: TemporaryFolder

  init() throws { scratch = try TemporaryFolder() }

  @Test("JRN-1 a reader at the end continues after the file has grown, in whole batches")
  func tail() throws {
    let sample = try SampleJournal(closed: true)
    let path = try scratch.write(Array(sample.bytes.prefix(64)))
    var reader = try JournalReader(path: path)
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    var read: [JournalRecord] = []
    for size in 65...sample.bytes.count {
      try file.seek(toOffset: UInt64(size - 1))
      try file.write(contentsOf: [sample.bytes[size - 1]])
      while let record = try reader.next() { read.append(record) }
      let whole = sample.wholeBatches(at: size)
      #expect(read.count == Int(min(SampleJournal.sequences[whole], 5)), "\(size) bytes")
    }
    #expect(read.map(\.payload) == SampleJournal.batches.joined().map(\.payload))
    #expect(read.map(\.kind) == SampleJournal.batches.joined().map(\.kind))
    #expect(try reader.ending() == .clean)
    try file.truncate(atOffset: 80)
    let damage = JournalDamage(offset: 80, sequence: 7, flaw: .historyChanged)
    #expect(throws: JournalError.damaged(path: path, damage)) { try reader.next() }
    try file.close()
  }

  @Test("JRN-1 bytes that were incomplete are read again later")
  func bytesInFlux() throws {
    let sample = try SampleJournal(closed: false)
    var half = sample.bytes
    half.replaceSubrange(250..<280, with: repeatElement(0, count: 30))
    let path = try scratch.write(half)
    var reader = try JournalReader(path: path)
    for _ in 0..<4 { #expect(try reader.next() != nil) }
    #expect(try reader.next() == nil)
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.write(contentsOf: sample.bytes)
    try file.close()
    #expect(try reader.next()?.payload == SampleJournal.batches[2][0].payload)
  }

  @Test("JRN-1 a batch that completes while its beginning is judged is neither torn nor damaged")
  func judgedInFlux() throws {
    let sample = try SampleJournal(closed: true)
    let path = try scratch.write(Array(sample.bytes.prefix(240)))
    let system = FaultyFileSystem()
    system.plan.withLock { plan in
      plan.whenJudging = { [scratch, bytes = sample.bytes] in
        do { _ = try scratch.write(bytes) } catch { Issue.record(error) }
      }
    }
    // The file is written in place, so that the open reader sees the change.
    var reader = try JournalReader(path: path, fileSystem: system)
    #expect(try reader.ending() == .clean)
    #expect(try reader.next()?.sequence == 5)
    #expect(try reader.ending() == .clean)
    #expect(reader.totals.lastSequence == 6)
  }

  @Test("JRN-1 a follower shows old records and those of another process until it is cancelled")
  func follower() async throws {
    let path = scratch.journal
    _ = try Journal.open(at: path).append([draft("zero"), draft("one")])
    async let child = #expect(processExitsWith: .success) { [path = path as String] in
      let journal = try Journal.open(at: path, options: .init(lockDeadline: .seconds(600)))
      for number in 2..<20 {
        _ = try journal.append([draft("\(number)"), draft("\(number) second")])
      }
    }
    let following = Task {
      var records: [JournalRecord] = []
      for try await record in JournalFollower(path: path, after: 1, interval: .milliseconds(1)) {
        records.append(record)
        if record.sequence == 38 { withUnsafeCurrentTask { $0?.cancel() } }
      }
      return records
    }
    let records = try await following.value
    _ = await child
    #expect(records.map(\.sequence) == Array(2...38))
    #expect(records.first?.text == "one")
    #expect(records.last?.text == "19 second")
  }

  #if os(Linux) || canImport(Darwin)
  @Test("JRN-1 the system notifies a follower of a change", .timeLimit(.minutes(10)))
  func told() async throws {
    let changes = FileChanges(of: try scratch.write([1]))
    #expect(changes.isNotified)
    // A change before the wait is not missed, and one during the wait ends it.
    _ = try FileHandle(forWritingTo: URL(filePath: scratch.journal)).write(contentsOf: [2])
    await changes.wait(atMost: .seconds(100_000))
    async let waited: Void = changes.wait(atMost: .seconds(100_000))
    try FileManager.default.removeItem(atPath: scratch.journal)
    await waited
  }

  @Test("JRN-1 waiting for a change ends at its deadline and with its task")
  func limits() async throws {
    let changes = FileChanges(of: try scratch.write([1]))
    await changes.wait(atMost: .zero)
    await changes.wait(atMost: .seconds(-5))
    let task = Task { await changes.wait(atMost: .seconds(100_000)) }
    task.cancel()
    await task.value
    #expect(!FileChanges(of: scratch.file("nothing")).isNotified)
  }
  #endif

  @Test("JRN-2 a follower throws on damage and on a missing file")
  func failures() async throws {
    let sample = try SampleJournal(closed: true)
    var bytes = sample.bytes
    bytes[sample.boundaries[2] + 3] ^= 4
    let path = try scratch.write(bytes)
    var iterator = JournalFollower(path: path, interval: .milliseconds(1)).makeAsyncIterator()
    for sequence in 1...4 { #expect(try await iterator.next()?.sequence == UInt64(sequence)) }
    let damage = JournalDamage(
      offset: UInt64(sample.boundaries[2]), sequence: 5, flaw: .headerChecksum)
    await #expect(throws: JournalError.damaged(path: path, damage)) { try await iterator.next() }
    try FileManager.default.removeItem(atPath: path)
    var other = JournalFollower(path: path).makeAsyncIterator()
    await #expect(throws: JournalError.missing(path: path)) { try await other.next() }
  }

  @Test("JRN-1 a follower reads the file that took the name before it was watched")
  func replacedBeforeWatching() throws {
    let (path, other) = (scratch.journal, scratch.file("other"))
    _ = try Journal.open(at: path).append([draft("old")])
    _ = try Journal.open(at: other).append([draft("new")])
    let system = FaultyFileSystem()
    system.plan.withLock { plan in
      plan.whenWatching = {
        do { try POSIXFileSystem().rename(other, to: path) } catch { Issue.record(error) }
      }
    }
    let file = FollowedFile(path: path, sequence: 0, fileSystem: system)
    #expect(try file.next()?.text == "new")
    #expect(try file.next() == nil)
  }
}

@Suite("The notices of changes of one journal", .timeLimit(.minutes(3)))
struct FileChangesTests {
  private let scratch: TemporaryFolder
  private let notifier = ChangeNotifier()

  init() throws { scratch = try TemporaryFolder() }

  @Test("JRN-1 a watch is current until another file takes the name, though the old one is open")
  func replaced() async throws {
    let path = try scratch.write([1], to: "a")
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    let old = FileChanges(of: path, by: notifier)
    #expect(old.isCurrent)
    let other = try scratch.write([2], to: "b")
    #expect(rename(other, path) == 0)
    #expect(!old.isCurrent)
    #if os(Linux)
    // The system reports that the name is gone, so no reader waits for the limit.
    await old.wait(atMost: .seconds(100_000))
    #endif
    #expect(FileChanges(of: path, by: notifier).isCurrent)
    try file.close()
  }

  @Test("JRN-1 a watch of a missing file is current until a file is there")
  func missing() throws {
    let path = scratch.file("a")
    let changes = FileChanges(of: path, by: notifier)
    #expect(changes.isCurrent && !changes.isNotified)
    _ = try scratch.write([1], to: "a")
    #expect(!changes.isCurrent)
  }

  #if os(Linux)
  @Test("JRN-1 a file that was removed is not taken for one that has its number again")
  func removed() async throws {
    let (path, watched) = (try scratch.write([1], to: "a"), try scratch.write([1], to: "b"))
    // Not every file system uses a number again. So the file that is watched and removed is another
    // one here, and the file at the path has the number that the reader knows.
    let notifier = ChangeNotifier { instance, _ in ChangeNotifier.ask(instance, watched) }
    let old = FileChanges(of: path, by: notifier)
    #expect(old.isNotified && old.isCurrent)
    try FileManager.default.removeItem(atPath: watched)
    while notifier.count > 0 { await Task.yield() }
    #expect(!old.isCurrent)
  }
  #endif
}
