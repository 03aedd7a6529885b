import Foundation
import SessionJournal
import SessionTestKit

/// The one path of these tests.
let journalPath = "/data/app.journal"

/// The result of a reader without a lock at the path.
struct JournalInspection {
  /// The records, with the snapshot of a compacted file expanded.
  let records: [JournalRecord]
  let lastSequence: UInt64
  let ending: JournalEnding

  init(_ disk: SimulatedDisk) throws {
    var reader = try JournalReader(path: journalPath, on: disk)
    var records: [JournalRecord] = []
    while let record = try reader.next() { records.append(record) }
    ending = try reader.ending()
    self.records = try History.expanded(records)
    lastSequence = reader.totals.lastSequence
    // Sequences have no gap: each belongs to a record or a watermark. A snapshot takes none.
    let snapshots: UInt64 = reader.header.beginsWithSnapshot ? 1 : 0
    let counted = reader.totals.records + reader.totals.watermarks - snapshots
    guard lastSequence + 1 == reader.header.firstSequence + counted else {
      throw Falsified("\(counted) frames and the last sequence is \(lastSequence)")
    }
  }
}

/// Opens a journal after a power cut or a process death, and checks all of its promises.
struct Recovery {
  let disk: SimulatedDisk
  var oracle: JournalOracle

  init(_ disk: SimulatedDisk, _ oracle: JournalOracle) {
    self.disk = disk
    self.oracle = oracle
  }

  mutating func verify() throws {
    let before = disk.contents(of: journalPath) ?? []
    let (process, journal, records) = try open()
    try oracle.settle(journal.identifier)
    try oracle.settle(records)
    try checkRepair(journal.recovery.repair, before)
    guard disk.contents(of: journalPath + ".new") == nil else {
      throw Falsified("half a file is left beside the journal")
    }
    try oracle.check(try JournalInspection(disk).records)
    process.kill()

    // The opening made its result durable, so the power may fail now.
    let content = disk.contents(of: journalPath)
    let cut = disk.crash(.losingAll)
    guard isSame(cut.contents(of: journalPath), content) else {
      throw Falsified("what opening returned was not durable")
    }
    try verifyAgain(on: disk, content: content)
    try verifyLife(on: cut)
  }

  private func open() throws -> (SimulatedProcess, Journal, [JournalRecord]) {
    let process = disk.process()
    var records: [JournalRecord] = []
    let journal = try Journal.open(at: journalPath, options: .on(process)) { frame, payload in
      records.append(
        JournalRecord(
          sequence: frame.sequence, offset: frame.offset, kind: frame.kind,
          remainingInBatch: frame.remainingInBatch, payload: payload.withUnsafeBytes { Array($0) }))
    }
    guard journal.recovery.totals.records == UInt64(records.count) else {
      throw Falsified("replay showed \(records.count) records of \(journal.recovery.totals)")
    }
    return (process, journal, try History.expanded(records))
  }

  /// The cut bytes are in a file of their own, byte for byte, except zeros at the end.
  private func checkRepair(_ repair: JournalRepair?, _ before: [UInt8]) throws {
    let after = disk.contents(of: journalPath) ?? []
    if repair == nil {
      guard before.isEmpty || before.isSame(as: after) else {
        throw Falsified("\(before.count) bytes became \(after.count), and nothing was said of it")
      }
      return
    }
    guard after.count < before.count, before[..<after.count].isSame(as: after) else {
      throw Falsified("a repair changed what it should keep")
    }
    let tail = Array(before[after.count...])
    let kept = repair.flatMap { disk.contents(of: $0.keptAside) } ?? []
    let zeros = [UInt8](repeating: 0, count: max(0, tail.count - kept.count))
    guard tail.isSame(as: kept + zeros) else {
      throw Falsified("of \(tail.count) bytes cut, \(kept.count) are kept, and not as they were")
    }
    let durable = disk.crash(.losingAll)
    if let name = repair?.keptAside, durable.contents(of: name) != kept {
      throw Falsified("the tail was cut, and its copy is not durable")
    }
  }

  /// A second recovery changes nothing.
  private func verifyAgain(on disk: SimulatedDisk, content: [UInt8]?) throws {
    let second = Recovery(disk, oracle)
    let (process, journal, records) = try second.open()
    guard journal.recovery.repair == nil, isSame(disk.contents(of: journalPath), content) else {
      throw Falsified("a second recovery changed the file: \(journal.recovery)")
    }
    try oracle.check(records)
    process.kill()
  }

  /// The journal accepts records again, and keeps them and all others.
  private func verifyLife(on disk: SimulatedDisk) throws {
    var oracle = oracle
    let journal = try Journal.open(at: journalPath, options: .on(disk))
    _ = try journal.append(oracle.submit([30, 700]))
    oracle.decide(.acknowledged)
    let cut = disk.crash(.losingAll)
    let found = try JournalInspection(cut)
    try oracle.check(found.records)
    guard found.ending == .clean, found.lastSequence == journal.lastSequence else {
      throw Falsified("after an append the file ends \(found.ending)")
    }
  }
}

/// Whether both are the same bytes, or both are missing.
func isSame(_ one: [UInt8]?, _ other: [UInt8]?) -> Bool {
  guard let one, let other else { return one == nil && other == nil }
  return one.isSame(as: other)
}

extension RandomAccessCollection<UInt8> {
  /// Whether the bytes are equal, by one system call: without the optimizer `==` compares byte by
  /// byte, which took a tenth of the time of these properties.
  func isSame(as other: some RandomAccessCollection<UInt8>) -> Bool {
    guard count == other.count else { return false }
    return withContiguousStorageIfAvailable { mine in
      other.withContiguousStorageIfAvailable { theirs in
        guard let one = mine.baseAddress, let two = theirs.baseAddress else { return true }
        return memcmp(one, two, mine.count) == 0
      } ?? elementsEqual(other)
    } ?? elementsEqual(other)
  }
}
