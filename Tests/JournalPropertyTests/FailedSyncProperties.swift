import SessionJournal
import SessionTestKit
import Testing

@Suite("The journal after a sync that failed")
struct FailedSyncProperties {
  /// A disk on which a failed sync dropped the pages of a batch that still reads back.
  private func failed() throws -> (SimulatedDisk, JournalRun) {
    let disk = SimulatedDisk()
    var run = JournalRun(disk)
    try run.perform(.append([40]))
    for number in 0..<12 {
      disk.fail(atCall: disk.callCount + number, with: .failedSync(written: 0, evicting: false))
    }
    try run.perform(.append([900]))
    disk.stopFaults()
    #expect(try JournalInspection(disk).records.count == 2)
    #expect(try JournalInspection(disk.crash(.losingAll)).records.count == 1)
    return (disk, run)
  }

  @Test("J9 JRN-2 opening writes again what a failed sync left in memory only")
  func reopened() throws {
    var (disk, run) = try failed()
    try run.perform(.append([30]))
    #expect(try JournalInspection(disk.crash(.losingAll)).records.count == 3)
    var recovery = Recovery(disk.crash(.losingAll), run.oracle)
    try recovery.verify()
  }

  @Test("J10 JRN-2 a full disk does not prevent opening and loses nothing later")
  func reopenedWithoutRoom() throws {
    var struck = 0
    for number in 0..<20 {
      let (disk, _) = try failed()
      // A file system that never writes in place has no room for the same bytes either.
      disk.fail(atCall: disk.callCount + number, with: .noSpace)
      guard let journal = try opened(disk),
        disk.trace.last(where: { $0.fault != nil })?.operation == .write
      else { continue }
      struck += 1
      #expect(journal.lastSequence == 2)
      _ = try journal.append([JournalDraft(kind: 1, payload: [1, 2, 3])])
      #expect(try JournalInspection(disk.crash(.losingAll)).records.count == 3)
    }
    #expect(struck == 1)
  }

  /// The journal; nil if the fault prevented opening.
  private func opened(_ disk: SimulatedDisk) throws -> Journal? {
    do throws(JournalError) {
      return try Journal.open(at: journalPath, options: .on(disk))
    } catch {
      #expect(disk.trace.last { $0.fault != nil }?.operation != .write)
      return nil
    }
  }
}
