import SessionJournal
import SessionTestKit
import Synchronization
import Testing

/// A cleaner may remove the lock file while writers are at work; then each has its own.
///
/// The lock on the journal file itself separates them.
@Suite("A lock file that is removed")
struct RemovedLockProperties {
  /// Another process that finds no lock file, and what it was acknowledged.
  private final class Intruder: Sendable {
    private let disk: SimulatedDisk
    private let acknowledged = Mutex<[JournalRecord]>([])

    init(_ disk: SimulatedDisk) { self.disk = disk }

    var records: [JournalRecord] { acknowledged.withLock { $0 } }

    /// Appends, compacts all but one record, and appends, as far as it can.
    func strike(beforeCall number: Int) {
      disk.before(call: number) { [self] in
        let process = disk.process()
        do throws(SystemFault) { try process.remove(journalPath + ".lock") } catch { return }
        do throws(JournalError) {
          let journal = try Journal.open(at: journalPath, options: .on(process))
          try append(60, to: journal)
          _ = try journal.compact(keepingFrom: journal.lastSequence, summary: History())
          try append(61, to: journal)
          try journal.close()
        } catch {
          // The lock on the journal file stops it: only what was acknowledged before counts.
        }
      }
    }

    private func append(_ size: Int, to journal: Journal) throws(JournalError) {
      let appended = try journal.append([
        JournalDraft(kind: 1, payload: [UInt8](repeating: 9, count: size))
      ]).appended
      acknowledged.withLock { $0 += appended }
    }
  }

  @Test(
    "JRN-1 JRN-2 JRN-4 a lock file that is removed at any call, with a compaction, loses nothing")
  func removed() throws {
    expect(
      Property(
        "a removed lock file loses nothing", requiredLabels: ["struck"],
        regressions: RegressionFolder()
      ).exhaustive { choices in
        let disk = SimulatedDisk()
        let first = try Journal.open(at: journalPath, options: .on(disk.process()))
        let second = try Journal.open(at: journalPath, options: .on(disk.process()))
        var known: [JournalRecord] = []
        for size in 1...3 {
          known += try first.append([
            JournalDraft(kind: 1, payload: [UInt8](repeating: 1, count: size))
          ]).appended
        }
        let compacts = choices.chance(1, in: 2)
        if choices.chance(1, in: 2) {
          // The other processes have already missed a compaction by then.
          _ = try second.compact(keepingFrom: 3, summary: History())
        }
        let intruder = Intruder(disk)
        let start = disk.callCount
        intruder.strike(beforeCall: start + choices.draw(in: 0...80))
        do throws(JournalError) {
          if compacts {
            _ = try first.compact(keepingFrom: 3, summary: History())
          } else {
            known += try first.append([
              JournalDraft(kind: 1, payload: [UInt8](repeating: 2, count: 20))
            ]).appended
          }
        } catch {
          // A refused batch is not acknowledged.
          choices.label("refused")
        }
        if !intruder.records.isEmpty { choices.label("struck") }
        known += intruder.records
        for (size, journal) in [(30, second), (31, first)] {
          known += try journal.append([
            JournalDraft(kind: 1, payload: [UInt8](repeating: 3, count: size))
          ]).appended
        }
        var history = History()
        var reader = try JournalReader(path: journalPath, fileSystem: disk.process())
        try reader.visit { frame, payload in
          history.take(frame.record, payload: payload)
          return true
        }
        guard try reader.ending() == .clean else { throw Falsified("the file is not clean") }
        for record in known
        where history.records.filter({ $0.sequence == record.sequence }).map(\.payload) != [
          record.payload
        ] { throw Falsified("record \(record.sequence) was acknowledged and is not there") }
      })
  }
}

@Suite("Deleting a journal on a disk that stops or fails")
struct DeletionProperties {
  /// A journal with every file that it can have next to it.
  private static func disk() throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    var run = JournalRun(disk)
    try run.perform([.append([40]), .append([30])])
    disk.place([1, 2, 3], at: journalPath + ".new")
    disk.place([4, 5], at: journalPath + ".torn-7-0")
    disk.place([6], at: journalPath + ".torn-of-somebody")
    return disk.crash(.keepingAll)
  }

  private static let foreign = [journalPath + ".torn-of-somebody"]

  /// Deletes the journal; true if there was something to delete.
  private static func delete(_ disk: SimulatedDisk) throws -> Bool {
    do throws(JournalError) {
      try Journal.delete(at: journalPath, options: .on(disk))
      return true
    } catch {
      guard case .missing = error else { throw error }
      return false
    }
  }

  private static let faults: [DiskFault] = [
    .death(afterBytes: 0), .inputOutput, .interrupted, .noSpace,
  ]

  @Test("JRN-1 a deletion that any fault interrupts is complete after it is repeated")
  func interrupted() throws {
    let dry = try Self.disk()
    #expect(try Self.delete(dry))
    #expect(dry.crash(.losingAll).paths == Self.foreign)
    let calls = dry.trace
    #expect(calls.count > 15)
    expect(
      Property("a deletion that is struck can be done again").exhaustive { choices in
        guard let call = choices.pick(calls) else { return }
        let disk = try Self.disk()
        disk.fail(atCall: call.number, with: choices.pick(Self.faults) ?? .inputOutput)
        do throws(JournalError) { try Journal.delete(at: journalPath, options: .on(disk)) } catch {
          switch error {
          case .io, .diskFull, .noRoomToCreate: break
          default: throw Falsified("a disk that fails made a deletion say: \(error)")
          }
        }
        disk.stopFaults()
        let cut = choices.draw(in: 0...5)
        let after =
          cut == 0
          ? disk : disk.crash(CrashProperties.cut(UInt64(cut - 1), seed: UInt64(call.number)))
        _ = try Self.delete(after)
        try choices.require(after.paths == Self.foreign, "left: \(after.paths)")
        // A lock file without a journal may return; no data does.
        let left = Set(after.crash(.losingAll).paths).subtracting(Self.foreign)
        try choices.require(left.isSubset(of: [journalPath + ".lock"]), "back: \(left)")
        let again = try Self.delete(after)
        try choices.require(!again, "there was something left")
      })
  }
}
