@_spi(Internals) import SessionCore
import SessionExplain
import SessionTestKit
import Testing

@testable import ReplayCommands

@Suite("Lanes and places")
struct LanesTests {
  private func lanes(_ records: [SessionRecord], limit: Int) throws -> Lanes {
    var lanes = Lanes(limit: limit)
    var fold = SessionFold()
    for record in records {
      try fold.apply(record)
      lanes.take(record, fold.state)
    }
    if let last = records.map(\.time).max() { lanes.finish(at: last) }
    return lanes
  }

  @Test("RPL-4 lanes show adjacent states, every token and every mark of the records")
  func whole() throws {
    for seed in 0..<80 as Range<UInt64> {
      let records = try DrawnSession.ofFigures(seed: seed, records: 60, mayBeCompacted: false)
      let lanes = try lanes(records, limit: 1_000)
      var fold = SessionFold()
      var kinds: [SessionState.Kind] = []
      for record in records {
        try fold.apply(record)
        if kinds.last != fold.state.kind { kinds.append(fold.state.kind) }
      }
      #expect(lanes.segments.map(\.state) == kinds, "\(seed)")
      for (left, right) in zip(lanes.segments, lanes.segments.dropFirst()) {
        // A clock that was set back results in a state of length zero.
        #expect(left.to == right.from || right.from < left.from, "\(seed)")
      }
      let announced = records.compactMap { $0.event?.announcedToken?.generation }
      #expect(lanes.tokens.map(\.generation) == announced, "\(seed)")
      #expect(
        lanes.marks.map(\.sequence) == records.filter { Lanes.kind(of: $0) != nil }.map(\.sequence))
      #expect(lanes.tokens.allSatisfy { $0.from <= $0.to })
    }
  }

  @Test("lanes merge shapes beyond the limit and still count each of them")
  func bounded() throws {
    for seed in 0..<30 as Range<UInt64> {
      let records = try DrawnSession.ofFigures(seed: seed, records: 700, mayBeCompacted: false)
      let (few, all) = (try lanes(records, limit: 20), try lanes(records, limit: 10_000))
      #expect(few.segments.count <= 20 && few.tokens.count <= 21 && few.marks.count <= 20)
      #expect(few.segments.reduce(0) { $0 + $1.count } == UInt64(all.segments.count))
      #expect(few.tokens.reduce(0) { $0 + $1.count } == UInt64(all.tokens.count))
      #expect(few.marks.reduce(0) { $0 + $1.count } == UInt64(all.marks.count))
      // A merged mark has the worst kind of its place.
      #expect(few.marks.map(\.kind).max() == all.marks.map(\.kind).max())
      #expect(
        few.segments.contains { $0.state == .expired }
          == all.segments.contains { $0.state == .expired })
    }
  }

  @Test("an even sample keeps the first element and equal distances within its limit")
  func sample() {
    for limit in [1, 2, 3, 7, 64] {
      for count in [0, 1, 2, 3, 63, 64, 65, 1_000] {
        var sample = EvenSample<Int>(limit: limit)
        for index in 0..<count { sample.offer { index } }
        #expect(sample.kept.count <= limit)
        #expect(sample.count == UInt64(count))
        #expect(sample.dropped == UInt64(count - sample.kept.count))
        #expect(sample.kept.first == (count > 0 ? 0 : nil))
        #expect(Set(zip(sample.kept, sample.kept.dropFirst()).map { $1 - $0 }).count <= 1)
        #expect(sample.kept.count >= min(count, limit + 1) / 2, "\(limit) of \(count)")
      }
    }
  }

  @Test("places grow with time over the whole range of a clock")
  func scale() {
    let ends: [(Int64, Int64)] = [
      (.min, .max), (0, 0), (.max, .max), (-5, 5), (1_795_269_600_000, 1_795_356_000_000), (0, 1),
    ]
    for (first, last) in ends {
      let scale = TimeScale(
        first: Timestamp(milliseconds: first), last: Timestamp(milliseconds: last))
      let times = [Int64.min, first, first / 2 + last / 2, last, .max].sorted()
      let places = times.map { scale.place(of: Timestamp(milliseconds: $0)) }
      #expect(places == places.sorted())
      #expect(places.allSatisfy { (0...TimeScale.parts).contains($0) })
      let ticks = scale.ticks(upTo: 8)
      #expect(ticks.count <= 8)
      #expect(ticks.allSatisfy { $0 >= scale.first && $0 <= scale.last })
      #expect(ticks == ticks.sorted())
    }
    let day = TimeScale(
      first: SampleJournal.start, last: SampleJournal.start.advanced(by: 86_400_000))
    #expect(day.ticks(upTo: 8).map(day.label).first == "11-21 18:00")
    #expect(TimeScale.percent(123_456) == "12.3456%")
    #expect(TimeScale.percent(500_000) == "50%")
    #expect(TimeScale.percent(1_000_000) == "100%")
    #expect(TimeScale.percent(10) == "0.001%")
  }

  @Test("the room for each journal keeps a page within its limits")
  func room() {
    for files in [0, 1, 2, 50, 200, 10_000] {
      let room = ReportReading.room(for: files)
      let journals = max(1, min(files, ReportReading.mostJournals))
      #expect(room.rows * journals <= ReportReading.mostRows)
      #expect(room.shapes * journals <= ReportReading.mostShapes)
      #expect(room.rows >= 25 && room.shapes >= 50 && room.whys >= 2)
    }
  }
}

@Suite("Ends by cause, version and day")
struct EndTallyTests {
  private struct End {
    let cause: Cause?
    let certainty: Certainty
    let version: String?
    let day: Int64
  }

  private func ends(_ seed: UInt64, _ count: Int) -> [End] {
    var chance = SplitMix(seed: seed)
    let causes = Cause.all.filter { $0.class == .end }
    return (0..<count).map { _ in
      End(
        cause: chance.below(20) == 0 ? nil : causes[Int(chance.below(UInt64(causes.count)))],
        certainty: Certainty.allCases[Int(chance.below(3))],
        version: chance.below(9) == 0 ? nil : "1.\(chance.below(5))",
        day: 20_000 + Int64(chance.below(40)))
    }
  }

  private func tally(_ ends: [End]) -> EndTally {
    var tally = EndTally()
    for end in ends {
      tally.add(end.cause.map { ($0, end.certainty) }, version: end.version, day: end.day)
    }
    return tally
  }

  @Test("RPL-4 each end counts once by cause, certainty, version, class and day, merged or not")
  func counts() {
    for seed in 0..<20 as Range<UInt64> {
      let all = ends(seed, 300)
      let whole = tally(all)
      var merged = tally(Array(all.prefix(100)))
      merged.merge(tally(Array(all.dropFirst(100))))
      #expect(merged == whole)
      #expect(whole.ends == 300)
      #expect(whole.unexplained == UInt64(all.count { $0.cause == nil }))
      #expect(
        whole.problems == UInt64(all.count { $0.cause.map { EndClass($0).isUnexpected } ?? true }))
      for (cause, count) in whole.causes {
        let own = all.filter { $0.cause == cause }
        #expect(count.ends == UInt64(own.count))
        for (certainty, number) in count.certainties {
          #expect(number == UInt64(own.count { $0.certainty == certainty }))
        }
        for (version, number) in count.versions {
          #expect(number == UInt64(own.count { $0.version == version }))
        }
      }
      for (day, classes) in whole.days {
        #expect(classes.values.reduce(0, +) == UInt64(all.count { $0.day == day }))
      }
    }
  }

  @Test("days and versions beyond the limits count together")
  func bounded() {
    var tally = EndTally()
    for index in 0..<10_000 as Range<Int64> {
      tally.add((.refused, .likely), version: "1.\(index)", day: index)
    }
    #expect(tally.ends == 10_000)
    #expect(tally.days.count == EndTally.mostDays)
    let versions = tally.causes[.refused]?.versions ?? [:]
    #expect(versions.count == EndTally.mostVersions + 1)
    #expect(versions.values.reduce(0, +) == 10_000)
  }

  @Test("problems come before other ends, and the most frequent cause is first")
  func ranked() {
    var tally = EndTally()
    for (cause, number) in [(Cause.userLogout, 9), (.refused, 2), (.lostReply, 3), (.inactive, 5)] {
      for _ in 0..<number { tally.add((cause, .proven), version: nil, day: 0) }
    }
    #expect(tally.ranked.map(\.cause) == [.lostReply, .refused, .userLogout, .inactive])
    #expect(tally.problems == 5)
  }

  @Test("an end gets the version and the day of its own record")
  func waits() {
    var wait = EndWait()
    wait.end(at: 10, version: "1.0", day: 1)
    wait.end(at: 20, version: "2.0", day: 2)
    wait.explain(endAt: 10, .refused, .likely)
    wait.explain(endAt: 15, .userLogoutAfterExpiry, .proven)
    wait.explain(endAt: 21, .lostReply, .likely)
    wait.end(at: 30, version: nil, day: 3)
    wait.finish()
    let tally = wait.tally
    #expect(tally.causes[.refused]?.versions == ["1.0": 1])
    #expect(tally.causes[.lostReply]?.versions == ["2.0": 1])
    #expect(tally.causes[.userLogoutAfterExpiry] == nil)
    #expect(tally.unexplained == 1 && tally.ends == 3)
    #expect(tally.days.keys.sorted() == [1, 2, 3])
  }

  @Test("a share stands out if chance does not explain it, and not by a small difference")
  func standsOut() {
    for (part, whole, total, ofTotal, expected) in [
      // A version that loses more responses on purpose.
      (2_727, 3_835, 7_046, 10_877, true),
      // Four times the share of the others, but some ends only.
      (10, 2_600, 25, 10_877, false), (9, 20, 9, 1_000, false), (10, 20, 10, 1_000, true),
      // Certain, but too small to matter.
      (505_000, 1_000_000, 985_000, 2_000_000, false),
      (600_000, 1_000_000, 985_000, 2_000_000, true),
      // A lower share, the only version, no end.
      (100, 1_000, 800, 2_000, false), (50, 100, 50, 100, false), (0, 0, 0, 0, false),
    ] as [(UInt64, UInt64, UInt64, UInt64, Bool)] {
      let comparison = ShareComparison(part: part, of: whole, total: total, ofTotal: ofTotal)
      #expect(comparison.standsOut == expected, "\(part) of \(whole)")
    }
  }

  @Test("the name of each cause in the table is a sentence without a value of one end")
  func names() {
    for cause in EndClass.allCases.flatMap(\.causes) {
      let name = ReportPage.name(of: cause)
      #expect(!name.contains("…") && !name.contains("{"), "\(cause.id): \(name)")
      #expect(name.first?.isUppercase == true && name.count > 10)
    }
  }

  @Test("a curve has at most 92 bars, and a wrong clock does not stretch it")
  func days() throws {
    for (ends, first, width, bars) in [
      ([5: 1], 5, 1, 1), ([5: 1, 7: 2], 5, 1, 3), ([0: 1, 91: 1], 0, 1, 92),
      ([0: 1, 92: 1], 0, 2, 47), ([-3: 1, 3: 1], -3, 1, 7),
      ([0: 1, 20_000: 600, 20_010: 600], 20_000, 1, 11),
      ([20_000: 600, 20_010: 600, 60_000: 2], 20_000, 1, 11), ([0: 700, 20_000: 600], 0, 364, 55),
    ] as [([Int64: UInt64], Int64, Int64, Int)] {
      let scale = try #require(DayScale(ends))
      #expect(scale.first == first && scale.width == width && scale.bars == bars, "\(ends)")
    }
    let whole = try #require(DayScale([.min: 1, .max: 1]))
    #expect(whole.bars <= DayScale.most + 1)
    #expect(whole.bar(of: .min) == 0)
    #expect(DayScale([:]) == nil)
    #expect(try #require(DayScale([20_778: 1])).label(0) == "2026-11-21")
    #expect(DayScale.day(of: Timestamp(milliseconds: -1), offset: 0) == -1)
    #expect(DayScale.day(of: SampleJournal.start, offset: 7_200_000) == 20_778)
  }
}
