import SessionJournal
import SessionTestKit
import Testing

@Suite("Compaction with other processes on the journal")
struct CrossingProperties {
  private static let script: [(place: Int, step: JournalStep)] = [
    (0, .append([40])), (1, .append([3, 100])), (0, .compact(1)), (1, .catchUp), (1, .append([9])),
    (0, .transact([20])), (1, .compact(0)), (1, .compact(0)), (0, .page), (0, .append([7, 8])),
    (1, .close), (0, .compact(2)), (1, .append([11])), (0, .compact(0)), (0, .catchUp),
    (1, .catchUp),
  ]

  @Test("JRN-4 a fault of one process at any call, with compactions of both, loses no record")
  func faults() throws {
    try JournalRun.expectEachFaultSurvived(
      in: Self.script, calls: 201...,
      by: Property("a fault of one process harms no other across compactions"),
      sweep: Sweep("faults across compactions", takingOneOf: 12))
  }

  @Test("JRN-4 a process that opens an unfinished compaction's file makes its name durable first")
  func nameNotDurable() throws {
    let disk = SimulatedDisk()
    var run = JournalRun(disk, processes: 2)
    try run.perform(.append([40]), by: 0)
    try run.perform(.append([50]), by: 1)
    let renamed = try renameOfCompaction(run, disk)
    disk.fail(atCall: renamed + 1, with: .death(afterBytes: 0))
    try run.perform(.compact(1), by: 1)
    #expect(disk.trace.last?.operation == .synchronizeFolder)
    #expect(!run.isAlive(1))
    try run.perform(.append([60]), by: 0)
    #expect(try JournalInspection(disk.crash(.losingAll)).records.count == 3)
    var recovery = Recovery(disk.crash(.losingAll), run.oracle)
    try recovery.verify()
  }

  @Test("JRN-4 a process that opens the new file rewrites what a failed sync left in memory")
  func unprovenEnd() throws {
    let disk = SimulatedDisk()
    var run = JournalRun(disk, processes: 2)
    try run.perform(.append([40]), by: 0)
    try run.perform([(1, .append([50])), (1, .compact(1))])
    for number in 0..<20 {
      disk.fail(atCall: disk.callCount + number, with: .failedSync(written: 0, evicting: false))
    }
    try run.perform(.append([700]), by: 1)
    disk.stopFaults()
    #expect(try JournalInspection(disk).records.count == 3)
    #expect(try JournalInspection(disk.crash(.losingAll)).records.count == 2)
    try run.perform(.append([60]), by: 0)
    #expect(try JournalInspection(disk.crash(.losingAll)).records.count == 4)
    var recovery = Recovery(disk.crash(.losingAll), run.oracle)
    try recovery.verify()
  }

  /// The number of the rename call in the next compaction by process 1.
  private func renameOfCompaction(_ run: JournalRun, _ disk: SimulatedDisk) throws -> Int {
    let dry = SimulatedDisk()
    var other = JournalRun(dry, processes: 2)
    try other.perform([(0, .append([40])), (1, .append([50])), (1, .compact(1))])
    return try #require(dry.trace.last { $0.operation == .rename }?.number)
  }
}

extension JournalRun {
  fileprivate mutating func perform(_ steps: [(place: Int, step: JournalStep)]) throws {
    for (place, step) in steps { try perform(step, by: place) }
  }
}
