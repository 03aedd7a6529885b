import SessionJournal
import SessionTestKit
import Testing

@Suite("Two processes and a disk that fails")
struct SharingProperties {
  private static let script: [(place: Int, step: JournalStep)] = [
    (0, .append([40])), (1, .append([3, 300])), (0, .transact([9])), (1, .catchUp), (1, .page),
    (0, .append([20])), (1, .transact([10])), (0, .append([11])), (1, .append([8])),
    (1, .catchUp), (0, .close), (1, .append([7])), (0, .catchUp),
  ]

  /// The fault of one call of one process.
  static let faults: [DiskFault] = [
    .inputOutput, .noSpace, .interrupted, .shortWrite(33),
    .failedSync(written: 0, evicting: false), .failedSync(written: 0, evicting: true),
    .death(afterBytes: 0), .death(afterBytes: 35),
  ]

  @Test(
    "J16 JRN-1 JRN-2 a fault of one process at any call harms no other process and leaves no lock")
  func faults() throws {
    try JournalRun.expectEachFaultSurvived(
      in: Self.script, calls: 81...,
      by: Property("a fault of one process harms no other", regressions: RegressionFolder()),
      sweep: Sweep("faults of one process", takingOneOf: 8))
  }
}
