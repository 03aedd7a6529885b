import ChildProcesses
import Foundation
import SessionJournal
import Synchronization
import Testing

@Suite("Several processes")
struct SharingTests {
  private let scratch: TemporaryFolder

  init() throws { scratch = try TemporaryFolder() }

  @Test("JRN-1 two openings in one process take turns and see each other's records once")
  func twoOpens() throws {
    let first = try Journal.open(at: scratch.journal)
    let second = try Journal.open(at: scratch.journal)
    #expect(first.identifier == second.identifier)
    let one = try first.append([draft("one")])
    let (two, seen) = try second.transact { foreign in
      (foreign.map { draft("after \($0.text)") }, foreign)
    }
    #expect(seen == one.appended)
    #expect(two.foreign == one.appended)
    #expect(two.appended.map(\.text) == ["after one"])
    #expect(try first.catchUp() == two.appended)
    #expect(try first.catchUp() == [])
    #expect(try first.append([draft("three")]).foreign == [])
    #expect(first.lastSequence == 3)
    #expect(second.lastSequence == 2)
    // An empty answer writes nothing but still delivers the records.
    #expect(try second.locked { $0 }.map(\.text) == ["three"])
    #expect(try second.locked { $0 } == [])
  }

  @Test("JRN-1 two processes append at once without a gap or loss, and see all records")
  func twoProcesses() async throws {
    let path = scratch.journal
    let journal = try Journal.open(at: path)
    async let child = #expect(processExitsWith: .success) { [path = path as String] in
      let journal = try Journal.open(at: path, options: .init(lockDeadline: .seconds(600)))
      for number in 0..<40 {
        _ = try journal.append([draft("child \(number)"), draft("child \(number) second")])
      }
      try journal.close()
    }
    var foreign: [JournalRecord] = []
    var mine: [JournalRecord] = []
    var number = 0
    let deadline = ContinuousClock.now + .seconds(600)
    while foreign.count < 80 {
      await Task.yield()
      let done = try journal.append([draft("parent \(number)")])
      foreign += done.foreign
      mine += done.appended
      number += 1
      // A task starts the child, and needs a thread of the pool that this loop holds.
      await Task.yield()
      try #require(
        ContinuousClock.now < deadline, "the other process wrote \(foreign.count) records")
    }
    _ = await child
    #expect(foreign.map(\.text).filter { $0.hasSuffix("second") }.count == 40)
    try journal.close()
    var reader = try JournalReader(path: path)
    var sequences: [UInt64] = []
    var read: [JournalRecord] = []
    try reader.visit { frame, payload in
      sequences.append(frame.sequence)
      return true
    }
    reader = try JournalReader(path: path)
    while let record = try reader.next() { read.append(record) }
    #expect(try reader.ending() == .clean)
    #expect(read.map(\.sequence) == sequences)
    #expect(read == (foreign + mine).sorted { $0.sequence < $1.sequence })
    #expect(reader.totals.records + reader.totals.watermarks == reader.totals.lastSequence)
  }

  @Test("JRN-1 a held lock results in busy after the deadline, and a killed holder frees it")
  func killedHolder() throws {
    let path = scratch.journal
    let journal = try Journal.open(
      at: path, options: .init(lockDeadline: .milliseconds(50)))
    let patient = try Journal.open(at: path, options: .init(lockDeadline: .seconds(600)))
    let program =
      "import fcntl,sys,time; f=open(sys.argv[1]); fcntl.flock(f,fcntl.LOCK_EX); "
      + "print('held',flush=True); time.sleep(600)"
    let pipe = Pipe()
    let holder = try ChildProcess(
      "/usr/bin/env", ["python3", "-c", program, path + ".lock"], output: .pipe(pipe))
    #expect(try pipe.fileHandleForReading.read(upToCount: 4) == Data("held".utf8))
    do {
      _ = try journal.append([draft("x")])
      Issue.record("the lock was held and yet taken")
    } catch {
      guard case .busy(path, let waited) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(waited >= 50)
    }
    // Reading needs no lock.
    #expect(try journal.catchUp() == [])
    #expect(holder.send(SIGKILL))
    #expect(try patient.append([draft("x")]).appended.map(\.sequence) == [1])
    holder.waitUntilExit()
    #expect(try journal.catchUp().map(\.text) == ["x"])
  }

  @Test("JRN-1 journals of one process wait for their turn without polling, up to the deadline")
  func turns() async throws {
    let system = FaultyFileSystem()
    var options = JournalOptions()
    options.fileSystem = system
    let first = try Journal.open(at: scratch.journal, options: options)
    let second = try Journal.open(at: scratch.journal, options: options)
    options.lockDeadline = .milliseconds(10)
    let hurried = try Journal.open(at: scratch.journal, options: options)
    let isWaiting = Atomic(false)
    let finished = AsyncStream.makeStream(of: [UInt64].self)
    _ = try first.transact { _ in
      #expect(throws: JournalError.self) { try hurried.append([draft("hurried")]) }
      Thread.detachNewThread {
        isWaiting.store(true, ordering: .releasing)
        do {
          finished.continuation.yield(try second.append([draft("second")]).appended.map(\.sequence))
        } catch {
          Issue.record(error)
        }
        finished.continuation.finish()
      }
      while !isWaiting.load(ordering: .acquiring) { sched_yield() }
      return ([draft("first")], ())
    }
    for await sequences in finished.stream { #expect(sequences == [2]) }
    #expect(!system.plan.withLock { $0.log }.contains("pause"))
  }

  @Test("JRN-1 an opening reads no record that its writer takes back before the lock is free")
  func takenBack() throws {
    let path = scratch.journal
    let writer = try Journal.open(at: path, options: .fixed)
    _ = try writer.append([draft("a")])
    let kept = try contents(of: path).count
    _ = try writer.append([draft("b")])
    let system = FaultyFileSystem()
    // As a writer does whose write has failed: it takes back what it has written.
    system.plan.withLock { $0.whenLocking = { truncate(path, off_t(kept)) } }
    var options = JournalOptions.fixed
    options.fileSystem = system
    var texts: [String] = []
    let journal = try Journal.open(at: path, options: options) { _, payload in
      texts.append(payload.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
    }
    #expect(system.plan.withLock { $0.whenLocking == nil })
    #expect(texts == ["a"])
    #expect(try journal.append([draft("c")]).appended.map(\.sequence) == [2])
  }

  @Test(
    "JRN-2 a FUSE mount and the folder below it show each other's records",
    .enabled(if: access("/usr/bin/bindfs", X_OK) == 0 && access("/dev/fuse", W_OK) == 0))
  func twoViews() throws {
    let (below, view) = (scratch.file("below"), scratch.file("view"))
    #expect(mkdir(below, 0o700) == 0 && mkdir(view, 0o700) == 0)
    #expect(try ChildProcess.run("bindfs", ["--no-allow-other", below, view]).code == 0)
    defer { do { _ = try ChildProcess.run("umount", [view]) } catch {} }
    let journals = try [below, view].map { try Journal.open(at: $0 + "/a.journal") }
    for number in 0..<40 { _ = try journals[number % 2].append([draft("\(number)")]) }
    #expect(try journals[0].catchUp().count == 1)
    var reader = try JournalReader(path: below + "/a.journal")
    #expect(try reader.ending() == .clean)
    #expect(reader.totals.records == 40)
  }

  @Test("JRN-2 a file that differs from what was read is not written to")
  func changedHistory() throws {
    let path = scratch.journal
    let journal = try Journal.open(at: path)
    _ = try journal.append([draft("one")])
    let before = try contents(of: path)
    _ = try journal.append([draft("two")])
    _ = try scratch.write(before)
    let damage = JournalDamage(offset: 104, sequence: 2, flaw: .historyChanged)
    #expect(throws: JournalError.damaged(path: path, damage)) {
      try journal.append([draft("three")])
    }
    #expect(try contents(of: path) == before)
  }

  @Test("JRN-1 another journal in the file's place is refused, and a missing one is reported")
  func replaced() throws {
    let path = scratch.journal
    let journal = try Journal.open(at: path)
    _ = try journal.append([draft("one")])
    let other = try Journal.open(at: scratch.file("b.journal"))
    try FileManager.default.removeItem(atPath: path)
    #expect(throws: JournalError.missing(path: path)) { try journal.append([draft("x")]) }
    try FileManager.default.moveItem(atPath: other.path, toPath: path)
    let error = JournalError.replaced(
      path: path, expected: journal.identifier, found: other.identifier)
    #expect(throws: error) { try journal.append([draft("x")]) }
    #expect(throws: error) { try journal.catchUp() }
  }
}
