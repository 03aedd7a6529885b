@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Properties of retention")
struct RetentionPropertyTests {
  private struct Entry {
    let record: SessionRecord
    let bytes: UInt64
  }

  private func policy(_ choices: Choices) -> RetentionPolicy {
    func limit(_ most: UInt64) -> UInt64? {
      choices.chance(1, in: 3) ? nil : choices.draw(below: most)
    }
    return RetentionPolicy(
      maximumRecords: limit(60), maximumBytes: limit(6_000),
      maximumAge: limit(100_000).map { .milliseconds(Int64($0)) },
      keptRecords: choices.draw(in: 0...20),
      keptBeforeEnd: choices.draw(in: 0...10))
  }

  private func plan(_ policy: RetentionPolicy, _ entries: some Sequence<Entry>) -> RetentionPlan {
    entries.reduce(into: RetentionPlan(policy)) { $0.take($1.record, bytes: $1.bytes) }
  }

  private func isEnd(_ record: SessionRecord) -> Bool {
    switch record.event {
    case .sessionExpired, .logout: true
    default: false
    }
  }

  @Test("R1 JRN-4 promised records are kept, and after a compaction none is due")
  func promises() {
    expect(
      Property(
        "R1 retention keeps what it promises",
        cases: Sweep("what retention keeps", takingOneOf: 4).cases(of: 400),
        regressions: RegressionFolder()
      )
      .check { choices in
        let policy = policy(choices)
        var history: [SessionRecord] = []
        // Missing sequences belong to the journal's own frames.
        var sequence: UInt64 = 0
        for record in History.legal(upTo: 120)(choices).records {
          sequence += choices.chance(1, in: 8) ? 2 : 1
          let time = choices.chance(1, in: 20) ? Generator.timestamp(choices) : record.time
          history.append(SessionRecord(sequence: sequence, time: time, content: record.content))
        }
        let entries = history.map { Entry(record: $0, bytes: choices.draw(below: 200)) }
        let now = Timestamp(
          milliseconds: Timestamp.plainStart.milliseconds + Int64(choices.draw(below: 1 << 20)))
        var plan = plan(policy, entries)
        guard let first = plan.firstKept, let last = history.last else { return }
        let kept = history.count { $0.sequence >= first }
        let bytes = entries.reduce(0) { $0 + $1.bytes }
        try choices.require(first <= last.sequence, "\(first) is beyond \(last.sequence)")
        try choices.require(
          kept >= min(policy.keptRecords, history.count), "only \(kept) are kept")
        if let end = history.lastIndex(where: isEnd) {
          let start = max(0, end - policy.keptBeforeEnd)
          let tail = entries[start...]
          let size = tail.reduce(0) { $0 + $1.bytes }
          let fits =
            policy.maximumRecords.map { tail.count <= Int($0 - $0 / 4) } ?? true
            && policy.maximumBytes.map { size <= $0 - $0 / 4 } ?? true
          if fits {
            choices.label("an end is kept")
            try choices.require(first <= history[start].sequence, "the end is not explained")
          }
        }
        try choices.require(
          plan.records == UInt64(history.count) && plan.bytes == bytes, "totals")
        guard plan.isDue(at: now) else { return choices.label("not due") }
        choices.label("due")
        try choices.require((history.count - kept) * 4 >= history.count, "too little goes")
        // Compares the process that compacted with one that opens the new file.
        plan.forget(before: first)
        var fold = SessionFold()
        for record in history.prefix(history.count - kept) { try fold.apply(record) }
        let snapshot = SessionRecord(
          sequence: first - 1, time: now, content: .snapshot(fold))
        let remaining = entries.suffix(kept)
        let opened = self.plan(policy, [Entry(record: snapshot, bytes: 300)] + remaining)
        for plan in [plan, opened] {
          try choices.require(!plan.isDue(at: now), "due again")
          try choices.require(!plan.isDue(at: Timestamp(milliseconds: .max)), "due again by age")
          try choices.require(plan.records == UInt64(kept), "\(plan.records) of \(kept) records")
          try choices.require(
            plan.oldest == remaining.first?.record.time, "the oldest is another")
          try choices.require(
            plan.bytes == remaining.reduce(0) { $0 + $1.bytes }, "\(plan.bytes) bytes")
        }
        try choices.require(plan.firstKept == opened.firstKept, "two plans of one file")
      })
  }

  @Test(
    "R2 JRN-4 a journal compacted whenever it is due stays bounded and is copied seldom")
  func bounded() {
    expect(
      Property("R2 a compacted journal stays bounded", cases: 30, regressions: RegressionFolder())
        .check { choices in
          let policy = RetentionPolicy(
            maximumRecords: UInt64(choices.draw(in: 20...60)), maximumBytes: nil,
            keptRecords: choices.draw(in: 1...20), keptBeforeEnd: choices.draw(in: 0...10))
          var plan = RetentionPlan(policy)
          var (copied, total) = (UInt64(0), UInt64(0))
          for _ in 0..<2_000 {
            total += 1
            let isEnd = choices.chance(1, in: 40)
            plan.take(
              SessionRecord(
                sequence: total, time: .plainStart,
                content: isEnd ? .event(.logout(.init(reason: .user))) : .note(.closed)), bytes: 100
            )
            guard plan.isDue(at: .plainStart), let first = plan.firstKept else { continue }
            plan.forget(before: first)
            copied += plan.records
          }
          let most = max(policy.maximumRecords ?? 0, UInt64(policy.keptRecords) * 2)
          try choices.require(plan.records <= most + 1, "\(plan.records) records")
          try choices.require(copied <= total * 4, "\(copied) copied")
        })
  }

  @Test(
    "R3 JRN-4 with any process compacting a shared journal, enough is removed and few records are copied often"
  )
  func shared() {
    expect(
      Property(
        "R3 a shared journal is copied seldom",
        cases: Sweep("copies of a shared journal", takingOneOf: 4).cases(of: 200),
        regressions: RegressionFolder()
      )
      .check { choices in
        let policy = RetentionPolicy(
          maximumRecords: UInt64(choices.draw(in: 20...60)), maximumBytes: nil,
          keptRecords: choices.draw(in: 1...20), keptBeforeEnd: choices.draw(in: 0...10))
        var other = policy
        if choices.chance(1, in: 4) {
          choices.label("two policies")
          other.keptRecords = choices.draw(in: 1...20)
          other.maximumRecords = UInt64(choices.draw(in: 20...60))
        }
        var file = SharedFile()
        var plans = (0..<choices.draw(in: 2...4)).map { number in
          SharedPlan(RetentionPlan(number == 0 ? other : policy))
        }
        for _ in 0..<400 {
          let number = choices.draw(in: 0...plans.count - 1)
          plans[number].catchUp(with: file)
          file.append(choices)
          plans[number].catchUp(with: file)
          let plan = plans[number].plan
          try choices.require(
            plan.records <= UInt64(file.records.count), "\(plan.records) counted, more than are")
          if policy == other {
            try choices.require(
              plan.records + 2 >= UInt64(file.records.count), "\(plan.records) counted, too few")
          }
          guard plan.isDue(at: .plainStart), let first = plan.firstKept else { continue }
          // It is due for the present file; another process may take the lock first.
          let expected = file.first
          if choices.chance(1, in: 3) {
            let quicker = choices.draw(in: 0...plans.count - 1)
            plans[quicker].catchUp(with: file)
            if plans[quicker].plan.isDue(at: .plainStart),
              let first = plans[quicker].plan.firstKept
            {
              choices.label("another was quicker")
              try file.compact(keepingFrom: first, ifFirstIs: file.first, choices)
            }
          }
          try file.compact(keepingFrom: first, ifFirstIs: expected, choices)
        }
        try choices.require(file.compactions > 0, "nothing was compacted")
        let most = file.copies.values.max() ?? 0
        try choices.require(most <= 8, "a record was copied \(most) times")
      })
  }
}

/// A journal of batches that several plans share.
private struct SharedFile {
  struct Record {
    let record: SessionRecord
    let isBatchBegin: Bool
  }

  private(set) var first: UInt64 = 1
  private(set) var last: UInt64 = 0
  private(set) var records: [Record] = []
  private(set) var copies: [UInt64: Int] = [:]
  private(set) var compactions = 0
  /// The old files that a process may still have open.
  private(set) var old: [Record] = []

  mutating func append(_ choices: Choices) {
    // A missing sequence belongs to a frame of the journal's own.
    if choices.chance(1, in: 8) { last += 1 }
    for place in 0..<choices.draw(in: 1...3) {
      last += 1
      let isEnd = choices.chance(1, in: 40)
      records.append(
        Record(
          record: SessionRecord(
            sequence: last, time: .plainStart,
            content: isEnd ? .event(.logout(.init(reason: .user))) : .note(.closed)),
          isBatchBegin: place == 0))
    }
  }

  /// Like the journal: whole batches, and only if the file begins as expected.
  mutating func compact(keepingFrom wanted: UInt64, ifFirstIs expected: UInt64, _ choices: Choices)
    throws
  {
    guard first == expected,
      let kept = records.lastIndex(where: { $0.isBatchBegin && $0.record.sequence <= wanted }),
      kept > 0
    else { return }
    let count = records.count
    try choices.require((kept + 2) * 4 >= count, "only \(kept) of \(count) go")
    first = records[kept].record.sequence
    old = Array(records.prefix(kept))
    records.removeFirst(kept)
    for record in records { copies[record.record.sequence, default: 0] += 1 }
    compactions += 1
  }
}

/// A plan, and how far it has read the file.
private struct SharedPlan {
  private(set) var plan: RetentionPlan
  private var last: UInt64 = 0

  init(_ plan: RetentionPlan) {
    self.plan = plan
  }

  /// Like a session: the present beginning of the file, the rest of the old file, the new records.
  mutating func catchUp(with file: SharedFile) {
    plan.forget(before: file.first)
    // A process with the previous file open reads it to its end, even after its removal.
    let isOneBehind = file.old.first.map { $0.record.sequence <= last + 1 } ?? true
    if last < file.first - 1, !isOneBehind {
      plan.take(
        SessionRecord(
          sequence: file.first - 1, time: .plainStart, content: .snapshot(SessionFold())),
        bytes: 300)
    }
    for entry in (isOneBehind ? file.old : []) + file.records where entry.record.sequence > last {
      plan.take(entry.record, bytes: 100)
    }
    last = file.last
  }
}
