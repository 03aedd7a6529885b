import SessionJournal
import SessionTestKit
import SessionTesting
import Synchronization
import Testing

/// A cleaner may remove the lock file while writers are at work, and then each has one of its own.
///
/// What keeps them apart is the lock on the journal itself.
@Suite("A lock file that is removed")
struct RemovedLockProperties {
  /// Another process that finds no lock file, and what was acknowledged to it.
  private final class Intruder: Sendable {
    private let disk: SimulatedDisk
    private let acknowledged = Mutex<[JournalRecord]>([])

    init(_ disk: SimulatedDisk) {
      self.disk = disk
    }

    var records: [JournalRecord] { acknowledged.withLock { $0 } }

    /// Appends, compacts all but one record, appends; what it cannot do it leaves.
    func strike(beforeCall number: Int) {
      disk.before(call: number) { [self] in
        let process = disk.process()
        do throws(SystemFault) {
          try process.remove(journalPath + ".lock")
        } catch {
          return
        }
        do throws(JournalError) {
          let journal = try Journal.open(at: journalPath, options: .on(process))
          try append(60, to: journal)
          _ = try journal.compact(keepingFrom: journal.lastSequence, summary: History())
          try append(61, to: journal)
          try journal.close()
        } catch {
          // Kept out by the lock on the journal itself: what was acknowledged before that counts.
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

  @Test("JRN-1 JRN-2 JRN-4 A lock file removed at any call, and another compacts: nothing is lost")
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
          // The others are behind a compaction already when it happens.
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
          // Refused is not acknowledged.
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
          history.take(frame, payload: payload)
          return true
        }
        guard try reader.ending() == .clean else { throw Falsified("the file is not clean") }
        for record in known
        where history.records.filter({ $0.sequence == record.sequence }).map(\.payload)
          != [record.payload]
        {
          throw Falsified("record \(record.sequence) was acknowledged and is not there")
        }
      })
  }
}
