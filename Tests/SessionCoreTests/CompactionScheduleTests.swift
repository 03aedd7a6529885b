import Testing

@_spi(Internals) @testable import SessionCore

/// The machine of compaction, transition by transition.
///
/// A journal may have 8 records, and a compaction keeps 2.
@Suite("The machine CompactionSchedule")
struct CompactionScheduleTests {
  private static let settled = CompactionSchedule.Situation(
    isOpen: true, isWhole: true, needsClearing: false)

  private func schedule(records: UInt64) -> CompactionSchedule {
    let policy = RetentionPolicy(
      maximumRecords: 8, maximumBytes: nil, keptRecords: 2, keptBeforeEnd: 0)
    var schedule = CompactionSchedule(RetentionPlan(policy))
    append(1...records, to: &schedule)
    return schedule
  }

  private func append(_ sequences: ClosedRange<UInt64>, to schedule: inout CompactionSchedule) {
    for sequence in sequences {
      let record = SessionRecord(
        sequence: sequence, time: Timestamp(milliseconds: 0), content: .note(.closed))
      schedule.take(record, bytes: 100)
    }
  }

  private func now(_ uptime: Int64) -> ClockReading {
    ClockReading(time: Timestamp(milliseconds: 0), uptime: uptime)
  }

  private func firstKept(
    _ schedule: inout CompactionSchedule, from beginning: UInt64 = 1,
    _ situation: CompactionSchedule.Situation = settled, at uptime: Int64 = 0
  ) -> UInt64? {
    schedule.firstKept(inFileFrom: beginning, situation, at: now(uptime))
  }

  @Test("JRN-4 ready: a journal is compacted after a limit is exceeded")
  func due() {
    var schedule = schedule(records: 8)
    #expect(schedule.isLimited && firstKept(&schedule) == nil)
    append(9...9, to: &schedule)
    #expect(firstKept(&schedule) == 8)
  }

  @Test("JRN-4 a journal without limits is never compacted")
  func unlimited() {
    var schedule = CompactionSchedule(nil)
    append(1...100, to: &schedule)
    #expect(!schedule.isLimited && firstKept(&schedule) == nil)
    #expect(schedule == CompactionSchedule(nil), "no record is kept in memory")
  }

  @Test(
    "JRN-4 ready: a session that is not settled does not compact its journal",
    arguments: [
      (false, true, false), (true, false, false), (true, true, true),
    ])
  func unsettled(isOpen: Bool, isWhole: Bool, needsClearing: Bool) {
    var schedule = schedule(records: 9)
    let situation = CompactionSchedule.Situation(
      isOpen: isOpen, isWhole: isWhole, needsClearing: needsClearing)
    #expect(firstKept(&schedule, situation) == nil)
    #expect(firstKept(&schedule) == 8, "it was only postponed")
  }

  @Test("JRN-4 ended: a file with a new beginning has fewer records, and there is no pause")
  func compacted() {
    var schedule = schedule(records: 9)
    #expect(firstKept(&schedule) == 8)
    schedule.ended(hasNewBeginning: true, at: now(0))
    #expect(firstKept(&schedule, from: 8) == nil)
    append(10...16, to: &schedule)
    #expect(firstKept(&schedule, from: 8) == 15)
  }

  @Test("JRN-4 ended: a file with the same beginning is tried again after an hour")
  func unchanged() {
    var schedule = schedule(records: 9)
    #expect(firstKept(&schedule) == 8)
    schedule.ended(hasNewBeginning: false, at: now(5))
    #expect(firstKept(&schedule, at: 4 + CompactionSchedule.pause) == nil)
    #expect(firstKept(&schedule, at: 5 + CompactionSchedule.pause) == 8)
  }

  @Test("JRN-4 failed: it is tried again after an hour, with the records of that time")
  func failed() {
    var schedule = schedule(records: 9)
    schedule.failed(at: now(0))
    #expect(firstKept(&schedule) == nil)
    append(10...12, to: &schedule)
    #expect(firstKept(&schedule, at: CompactionSchedule.pause) == 11)
    schedule.failed(at: now(.max))
    #expect(firstKept(&schedule, at: .max - 1) == nil)
  }

  @Test("JRN-4 paused: records that another process removed are forgotten")
  func peer() {
    var schedule = schedule(records: 9)
    schedule.failed(at: now(0))
    append(10...10, to: &schedule)
    #expect(firstKept(&schedule, from: 8) == nil)
    #expect(firstKept(&schedule, from: 8, at: CompactionSchedule.pause) == nil)
  }
}
