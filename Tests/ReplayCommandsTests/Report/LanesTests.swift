@_spi(Internals) import SessionCore
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
      let records = try StatsHistory(seed: seed, records: 60, mayBeCompacted: false).records
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
      let records = try StatsHistory(seed: seed, records: 700, mayBeCompacted: false).records
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
