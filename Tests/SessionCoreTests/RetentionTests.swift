@_spi(Internals) import SessionCore
import Testing

@Suite("Specs/Retention.md")
struct RetentionTests {
  private static func plan(
    _ policy: RetentionPolicy, records: UInt64, end: UInt64?, open: UInt64?
  ) -> RetentionPlan {
    let sent = SessionNote.RequestSent(
      kind: .refresh, generation: Generation(1), trigger: .schedule, attempt: 1, process: 1,
      deadline: SampleRecords.time)
    var plan = RetentionPlan(policy)
    for sequence in 0..<records {
      let content: SessionRecord.Content =
        switch sequence + 1 {
        case end: .event(.sessionExpired(.init(reason: .inactivity)))
        case open: .note(.requestSent(sent))
        default: .note(.closed)
        }
      plan.take(
        SessionRecord(
          sequence: sequence + 1, time: Timestamp(milliseconds: Int64(sequence) * 1_000),
          content: content), bytes: 100)
    }
    return plan
  }

  @Test("JRN-4 the figures of the page are the defaults")
  func figures() throws {
    let policy = RetentionPolicy()
    let rows = try SpecFile("Specs/Retention.md").table(under: "Figures")
    let figures: [(name: String, value: String)] = [
      ("maximumRecords", policy.maximumRecords?.description ?? "none"),
      ("maximumBytes", policy.maximumBytes?.description ?? "none"),
      ("maximumAge", policy.maximumAge?.description ?? "none"),
      ("keptRecords", policy.keptRecords.description),
      ("keptBeforeEnd", policy.keptBeforeEnd.description),
    ]
    #expect(rows.map { $0["name"] ?? "" } == figures.map(\.name))
    #expect(rows.map { $0["default"] ?? "" } == figures.map(\.value))
  }

  @Test("JRN-4 the plan gives the result of every example of the page")
  func examples() throws {
    let rows = try SpecFile("Specs/Retention.md").table(under: "Examples")
    #expect(rows.count >= 20)
    for row in rows {
      func number<Value: FixedWidthInteger>(_ name: String) -> Value? {
        row[name].flatMap { Value($0) }
      }
      var policy = RetentionPolicy(
        maximumAge: number("age").map { .milliseconds($0 as Int64) },
        keptRecords: try #require(number("kept")),
        keptBeforeEnd: try #require(number("before")))
      policy.maximumRecords = number("max") ?? policy.maximumRecords
      policy.maximumBytes = number("bytes") ?? policy.maximumBytes
      let records: UInt64 = try #require(number("records"))
      let plan = Self.plan(policy, records: records, end: number("end"), open: number("open"))
      let now = Timestamp(milliseconds: Int64(records) * 1_000 - 1_000)
      #expect(plan.firstKept == number("first"), "\(row)")
      #expect(plan.isDue(at: now) == (row["due"] == "yes"), "\(row)")
    }
  }

  @Test("JRN-4 numbers out of bounds count as the nearest bound, also when they change")
  func bounds() {
    var policy = RetentionPolicy(keptRecords: 0, keptBeforeEnd: -1)
    #expect((policy.keptRecords, policy.keptBeforeEnd) == (1, 0))
    policy.keptRecords = .max
    policy.keptBeforeEnd = .max
    #expect((policy.keptRecords, policy.keptBeforeEnd) == (100_000, 100_000))
    policy = RetentionPolicy(keptRecords: .max, keptBeforeEnd: .max)
    #expect((policy.keptRecords, policy.keptBeforeEnd) == (100_000, 100_000))
  }

  @Test("JRN-4 a clock jump makes nothing due early and removes nothing that is kept")
  func jumps() {
    let policy = RetentionPolicy(
      maximumRecords: nil, maximumBytes: nil, maximumAge: .seconds(1), keptRecords: 10,
      keptBeforeEnd: 5)
    let plan = Self.plan(policy, records: 100, end: 50, open: nil)
    #expect(!plan.isDue(at: Timestamp(milliseconds: .min)))
    #expect(!plan.isDue(at: Timestamp(milliseconds: -1)))
    #expect(plan.isDue(at: Timestamp(milliseconds: .max)))
    #expect(plan.firstKept == 45)
    var future = RetentionPlan(policy)
    for sequence in 1...100 as ClosedRange<UInt64> {
      future.take(
        SessionRecord(
          sequence: sequence, time: Timestamp(milliseconds: .max), content: .note(.closed)),
        bytes: .max)
    }
    #expect(future.bytes == .max)
    #expect(!future.isDue(at: Timestamp(milliseconds: .min)))
    #expect(future.firstKept == 91)
  }

  @Test("JRN-4 a closed request, and an end before a snapshot, keep nothing")
  func over() {
    let policy = RetentionPolicy(keptRecords: 10, keptBeforeEnd: 5)
    var plan = Self.plan(policy, records: 100, end: 40, open: 50)
    #expect(plan.firstKept == 35)
    plan.take(
      SessionRecord(
        sequence: 100, time: SampleRecords.time, content: .snapshot(SampleRecords.snapshots[0])),
      bytes: 400)
    #expect(plan.firstKept == nil)
    #expect(plan.records == 0 && plan.bytes == 0)
    #expect(plan.oldest == nil)
    plan = Self.plan(policy, records: 100, end: nil, open: 50)
    #expect(plan.firstKept == 50)
    plan.take(
      SessionRecord(
        sequence: 101, time: SampleRecords.time,
        content: .note(.requestEnded(.init(request: 50, failure: .init(kind: .noReply))))),
      bytes: 100)
    #expect(plan.firstKept == 92)
  }

  @Test("JRN-4 REF-16 STA-9 what the server said of the session is kept while it counts")
  func told() {
    let needed = SessionNote.UserNeeded(
      generation: Generation(1), isOfCall: true, failure: RequestFailure(kind: .userNeeded))
    let life = SessionNote.RefreshTokenLife(generation: Generation(1), milliseconds: 60_000)
    for note in [.userNeeded(needed), .refreshTokenLife(life)] as [SessionNote] {
      var plan = RetentionPlan(RetentionPolicy(keptRecords: 10, keptBeforeEnd: 5))
      func take(_ sequence: UInt64, _ content: SessionRecord.Content) {
        plan.take(
          SessionRecord(sequence: sequence, time: SampleRecords.time, content: content), bytes: 100)
      }
      for sequence in 1...100 as ClosedRange<UInt64> {
        take(sequence, .note(sequence == 40 ? note : .closed))
      }
      #expect(plan.firstKept == 40)
      plan.forget(before: 41)
      #expect(plan.firstKept == 91)
      take(101, .note(note))
      for sequence in 102...140 as ClosedRange<UInt64> { take(sequence, .note(.closed)) }
      plan.forget(before: 50)
      #expect(plan.firstKept == 101)
      take(141, .event(.logout(.init(reason: .user))))
      #expect(plan.firstKept == 132)
    }
  }

  @Test(
    "JRN-4 a plan forgets records that another process removed, and counts the rest of the file")
  func forgets() {
    let policy = RetentionPolicy(
      maximumRecords: 50, maximumBytes: nil, keptRecords: 10, keptBeforeEnd: 5)
    var plan = Self.plan(policy, records: 60, end: 40, open: nil)
    #expect(plan.isDue(at: SampleRecords.time))
    plan.forget(before: 1)
    #expect(plan.records == 60)
    // The end is explained from its fifth record before, or from the beginning of the file.
    plan.forget(before: 35)
    #expect((plan.records, plan.bytes, plan.firstKept) == (26, 2_600, 35))
    #expect(plan.oldest == Timestamp(milliseconds: 34_000))
    #expect(!plan.isDue(at: SampleRecords.time))
    // The places of 38 and 39 are forgotten: the plan keeps rather too few than too many.
    plan.forget(before: 38)
    #expect((plan.records, plan.firstKept) == (21, 40))
    plan.forget(before: 41)
    #expect(plan.firstKept == 51)
    plan.forget(before: 20)
    let told = plan
    // A removed record changes nothing; the plan knows nothing of the end that went with it.
    plan.take(
      SessionRecord(
        sequence: 30, time: SampleRecords.time,
        content: .event(.sessionExpired(.init(reason: .inactivity)))), bytes: 100)
    #expect((plan.records, plan.oldest, plan.firstKept) == (told.records, told.oldest, 51))
    plan.forget(before: 100)
    #expect((plan.records, plan.bytes, plan.oldest, plan.firstKept) == (0, 0, nil, nil))
    plan.take(
      SessionRecord(sequence: 99, time: SampleRecords.time, content: .note(.closed)), bytes: 100)
    #expect(plan.records == 0)
    plan.take(
      SessionRecord(sequence: 100, time: SampleRecords.time, content: .note(.closed)), bytes: 100)
    #expect((plan.records, plan.firstKept) == (1, 100))
  }
}
