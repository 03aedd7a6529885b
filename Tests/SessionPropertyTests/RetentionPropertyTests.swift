import SessionCore
import SessionTestKit
import SessionTesting
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
      maximumAge: limit(100_000).map { Int64($0) }, keptRecords: choices.draw(in: 0...20),
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

  @Test("R1 JRN-4 what is promised is kept, and after a compaction none is due")
  func promises() {
    expect(
      Property("R1 retention keeps what it promises", cases: 400, regressions: RegressionFolder())
        .check { choices in
          let policy = policy(choices)
          var history: [SessionRecord] = []
          // Numbers that are missing are those of the journal's own frames.
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
          // As the process that compacted goes on, and as one that opens the new file begins.
          plan.removed()
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
    "R2 JRN-4 a journal that is compacted whenever it is due stays bounded, and is copied seldom")
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
            guard plan.isDue(at: .plainStart) else { continue }
            plan.removed()
            copied += plan.records
          }
          let most = max(policy.maximumRecords ?? 0, UInt64(policy.keptRecords) * 2)
          try choices.require(plan.records <= most + 1, "\(plan.records) records")
          try choices.require(copied <= total * 4, "\(copied) copied")
        })
  }
}
