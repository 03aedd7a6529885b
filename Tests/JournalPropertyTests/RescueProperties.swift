import SessionJournal
import SessionTestKit
import Synchronization
import Testing

@Suite("Repairing a journal on a disk that stops or fails")
struct RescueProperties {
  /// A journal with a flipped bit in its third record, and the end of its good prefix.
  private static func damaged() throws -> (disk: SimulatedDisk, bytes: [UInt8], end: UInt64) {
    let disk = SimulatedDisk()
    let journal = try Journal.open(at: journalPath, options: .on(disk))
    for number in UInt8(1)...6 {
      _ = try journal.append([
        JournalDraft(kind: number, payload: [UInt8](repeating: number, count: 300))
      ])
    }
    try journal.close()
    var bytes = try #require(disk.contents(of: journalPath))
    var offsets: [Int] = []
    var reader = try JournalReader(bytes: bytes)
    try reader.visit { frame, _ in
      offsets.append(Int(frame.offset))
      return true
    }
    bytes[offsets[3] + 40] ^= 1
    let after = SimulatedDisk()
    after.place(bytes, at: journalPath)
    return (after, bytes, UInt64(offsets[3]))
  }

  /// Only the frames decide; nil if the journal ends cleanly.
  private static func judge(_ reader: inout JournalReader) throws(JournalError) -> UInt64? {
    let ending = try reader.ending()
    return ending == .clean ? nil : reader.totals.bytes
  }

  private static func rescue(_ disk: SimulatedDisk) throws(JournalError) -> JournalRescue? {
    try Journal.rescue(journalPath, time: "20261121T210000Z", options: .on(disk), judge: judge)
  }

  private static let backup = journalPath + ".aside-1-repaired-20261121T210000Z"

  @Test("RES-6 a repaired journal is its good prefix, and the backup is the whole old file")
  func repaired() throws {
    let (disk, bytes, end) = try Self.damaged()
    let done = try #require(try Self.rescue(disk))
    #expect(done.bytes == end)
    #expect(done.dropped == UInt64(bytes.count) - end)
    #expect(done.backup == Self.backup)
    let left = disk.crash(.losingAll)
    let isKept = left.contents(of: journalPath) == Array(bytes[..<Int(end)])
    #expect(isKept)
    let isWhole = left.contents(of: Self.backup) == bytes
    #expect(isWhole)
    let journal = try Journal.open(at: journalPath, options: .on(left))
    #expect(try journal.append([JournalDraft(kind: 9, payload: [9])]).appended.first?.sequence == 4)
    try journal.close()
    #expect(try Self.rescue(left) == nil)
    try Journal.delete(at: journalPath, options: .on(left))
    #expect(left.paths.isEmpty)
  }

  @Test("RES-6 a journal stays unchanged if the judge asks for no cut")
  func leftAlone() throws {
    let (disk, bytes, _) = try Self.damaged()
    let done = try Journal.rescue(journalPath, time: "0", options: .on(disk)) {
      (_) throws(JournalError) in nil
    }
    #expect(done == nil)
    let isSame = disk.contents(of: journalPath) == bytes
    #expect(isSame)
    #expect(disk.paths == [journalPath, journalPath + ".lock"])
  }

  @Test("RES-6 a new file that does not read back as good does not replace the old one")
  func unproven() throws {
    let (disk, bytes, end) = try Self.damaged()
    do {
      // No batch ends in the middle of a frame.
      _ = try Journal.rescue(journalPath, time: "0", options: .on(disk)) {
        (_) throws(JournalError) in end - 8
      }
      Issue.record("it was replaced")
    } catch {
      #expect(error == .compactionRefused(path: journalPath, .copyDiffers))
    }
    let isSame = disk.contents(of: journalPath) == bytes
    #expect(isSame)
    #expect(disk.paths == [journalPath, journalPath + ".lock"])
  }

  private static let faults: [DiskFault] = [
    .death(afterBytes: 0), .death(afterBytes: 100), .inputOutput, .interrupted, .noSpace,
    .shortWrite(70), .failedSync(written: 0b1010, evicting: true), .flippedBit(4_321),
  ]

  @Test(
    "JRN-2 RES-6 after a fault and a power cut, the old file or the new one is there with its bytes"
  )
  func interrupted() throws {
    let (dry, bytes, end) = try Self.damaged()
    _ = try Self.rescue(dry)
    let calls = dry.trace
    #expect(calls.count > 30)
    let kept = Array(bytes[..<Int(end)])
    expect(
      Property(
        "a repair that is struck leaves the old file or the new",
        requiredLabels: ["old", "new", "struck", "the power failed"]
      ).exhaustive { choices in
        guard let call = choices.pick(calls), let fault = choices.pick(Self.faults) else { return }
        try choices.look(Sweep("faults of a repair", takingOneOf: 4))
        let disk = try Self.damaged().disk
        disk.fail(atCall: call.number, with: fault)
        choices.step("\(call): \(fault)")
        var isDone = false
        do throws(JournalError) {
          isDone = try Self.rescue(disk) != nil
        } catch {
          choices.label("struck")
          switch error {
          case .io, .diskFull, .compactionRefused, .readOnlyFolder: break
          default: throw Falsified("a disk that fails made a repair say: \(error)")
          }
        }
        disk.stopFaults()
        let cut = choices.draw(in: 0...6)
        let after =
          cut == 0 ? disk : disk.crash(CrashProperties.cut(UInt64(cut - 1), seed: 7))
        if cut > 0 { choices.label("the power failed") }
        let found = after.contents(of: journalPath)
        let isOld = found == bytes
        choices.label(isOld ? "old" : "new")
        try choices.require(isOld || found == kept, "the journal is neither the old nor the new")
        if !isOld {
          let isBackedUp = after.contents(of: Self.backup) == bytes
          try choices.require(isBackedUp, "the new file is there and the old one nowhere")
        }
        try choices.require(!isDone || !isOld, "a repair that was done was taken back")
        // Repeated with the files that are left, and opened.
        _ = try Self.rescue(after)
        try Journal.open(at: journalPath, options: .on(after)).close()
        let last = after.crash(.losingAll).contents(of: journalPath) ?? []
        try choices.require(last.starts(with: kept), "the second repair did not repair")
      })
  }

  @Test("JRN-1 an append at any moment of a repair is kept or refused as busy")
  func writers() throws {
    let (dry, _, _) = try Self.tornAndOpen()
    let first = dry.callCount
    _ = try Self.rescue(dry)
    let last = dry.callCount
    #expect(last - first > 30)
    for number in first..<last {
      let (disk, journal, end) = try Self.tornAndOpen()
      let writer = Writer(journal)
      disk.before(call: number) { writer.append() }
      let done = try Self.rescue(disk)
      // Before the repair has the lock, the writer cuts the tail itself; later it finds it busy.
      #expect(done != nil || writer.isDone, "call \(number)")
      if done != nil { #expect(done?.bytes == end) }
      if !writer.isDone { writer.append() }
      #expect(writer.isDone, "call \(number)")
      var reader = try JournalReader(path: journalPath, on: disk)
      var kinds: [UInt8] = []
      while let record = try reader.next() { kinds.append(record.kind) }
      #expect(kinds == [1, 2, 9], "call \(number)")
      #expect(try reader.ending() == .clean)
    }
  }

  @Test("JRN-1 a repair waits for a commit of another process up to its deadline")
  func busy() throws {
    let (dry, journal, _) = try Self.tornAndOpen()
    let first = dry.callCount
    _ = try journal.append([JournalDraft(kind: 8, payload: [])])
    var waited = 0
    for number in first..<dry.callCount {
      let (disk, journal, _) = try Self.tornAndOpen()
      let refusals = Mutex<[JournalError]>([])
      disk.before(call: number) {
        do throws(JournalError) {
          _ = try Journal.rescue(
            journalPath, time: "0", options: JournalOptions(lockDeadline: .zero).on(disk),
            judge: Self.judge)
        } catch {
          refusals.withLock { $0.append(error) }
        }
      }
      _ = try journal.append([JournalDraft(kind: 8, payload: [])])
      for error in refusals.withLock({ $0 }) {
        guard case .busy = error else { throw error }
        waited += 1
      }
      var reader = try JournalReader(path: journalPath, on: disk)
      var kinds: [UInt8] = []
      while let record = try reader.next() { kinds.append(record.kind) }
      #expect(kinds == [1, 2, 8], "call \(number)")
    }
    #expect(waited > 5)
  }

  /// A journal that one process has open, and that ends with a dead process's unfinished batch.
  private static func tornAndOpen() throws -> (SimulatedDisk, Journal, UInt64) {
    let disk = SimulatedDisk()
    let journal = try Journal.open(
      at: journalPath, options: JournalOptions(lockDeadline: .zero).on(disk))
    for number in UInt8(1)...2 { _ = try journal.append([JournalDraft(kind: number, payload: [])]) }
    let end = UInt64(try #require(disk.contents(of: journalPath)).count)
    let other = try Journal.open(at: journalPath, options: .on(disk))
    disk.fail(atNext: .write, with: .death(afterBytes: 40))
    do {
      _ = try other.append([JournalDraft(kind: 3, payload: [UInt8](repeating: 3, count: 80))])
    } catch {
      #expect(disk.contents(of: journalPath)?.count == Int(end) + 40)
    }
    return (disk, journal, end)
  }
}

/// Another process that tries to append one record.
private final class Writer: Sendable {
  private let journal: Journal
  private let result = Mutex(false)

  init(_ journal: Journal) {
    self.journal = journal
  }

  var isDone: Bool { result.withLock { $0 } }

  func append() {
    do {
      _ = try journal.append([JournalDraft(kind: 9, payload: [])])
      result.withLock { $0 = true }
    } catch {
      guard case .busy = error else {
        Issue.record("a writer was told: \(error)")
        return
      }
    }
  }
}
