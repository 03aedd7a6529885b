import SessionJournal
import SessionTestKit
import Testing

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
        do throws(JournalError) {
          try Journal.delete(at: journalPath, options: .on(disk))
        } catch {
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
