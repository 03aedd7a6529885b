@_spi(Internals) import SessionCore
import SessionExplain
import SessionTestKit
import Testing

@testable import ReplayCommands

@Suite("StatsFold")
struct StatsFoldTests {
  private func folded(
    _ records: [SessionRecord], by grouping: StatsGrouping? = nil,
    counted: ClosedRange<UInt64> = 0...UInt64.max
  ) throws -> StatsFold {
    var fold = StatsFold(by: grouping, counted: counted)
    try fold.count(records)
    fold.finish()
    return fold
  }

  private func check(_ tally: SpanTally, _ spans: [Int64], limit: Int64 = .max, _ what: String) {
    let good = spans.filter { $0 >= 0 && $0 <= limit }
    #expect(tally.histogram.count == UInt64(good.count), "\(what)")
    #expect(tally.clock == UInt64(spans.count - good.count), "\(what)")
    #expect(tally.histogram.maximum == good.max(), "\(what)")
    for percent in [50, 90, 95, 99] {
      let exact = StatsOracle.percentile(percent, of: good) ?? -1
      let found = tally.histogram.percentile(percent) ?? -1
      #expect(found >= exact && found - exact <= max(0, exact) / 64, "\(what) p\(percent)")
    }
  }

  @Test("RPL-4 every figure equals one that is computed from the whole, sorted history")
  func oracle() throws {
    for seed in 0..<200 as Range<UInt64> {
      let history = try DrawnSession.ofFigures(seed: seed, records: Int(1 + seed % 150))
      let oracle = StatsOracle(history)
      let figures = try folded(history).groups.total
      let name = "seed \(seed)"
      #expect(figures.sessions == UInt64(oracle.sessions), "\(name)")
      #expect(figures.continued == UInt64(oracle.continued), "\(name)")
      #expect(figures.open == UInt64(oracle.open), "\(name)")
      #expect(named(figures.ends) == oracle.ends, "\(name)")
      #expect(figures.succeeded == UInt64(oracle.succeeded), "\(name)")
      #expect(named(figures.failures) == oracle.failures, "\(name)")
      #expect(figures.neverRecovered == UInt64(oracle.neverRecovered), "\(name)")
      #expect(figures.tokens == UInt64(oracle.tokens), "\(name)")
      #expect(figures.rotated == UInt64(oracle.rotated), "\(name)")
      check(figures.latency, oracle.latencies, limit: 600_000, "latency of \(name)")
      check(figures.failureLatency, oracle.failureLatencies, limit: 600_000, "failures of \(name)")
      check(figures.recovery, oracle.recoveries, "recovery of \(name)")
      check(figures.length, oracle.lengths, "length of \(name)")
    }
  }

  private func named(_ counts: [some Hashable & CustomStringConvertible: UInt64]) -> [String: Int] {
    Dictionary(uniqueKeysWithValues: counts.map { ($0.key.description, Int($0.value)) })
  }

  @Test("the figures of the groups add up to the total for every grouping")
  func sums() throws {
    for seed in 0..<60 as Range<UInt64> {
      let records = try DrawnSession.ofFigures(seed: seed, records: 90)
      let whole = try folded(records).groups.total
      for grouping in StatsGrouping.allCases {
        #expect(try folded(records, by: grouping).groups.total == whole.withoutCauses, "\(seed)")
      }
    }
  }

  @Test("the figures of a range and of the remaining records add up to the total")
  func ranges() throws {
    for seed in 0..<60 as Range<UInt64> {
      let records = try DrawnSession.ofFigures(seed: seed, records: 60)
      let middle = records[30].sequence
      var parts = try folded(records, counted: 0...middle).groups
      parts.merge(try folded(records, counted: (middle + 1)...UInt64.max).groups)
      #expect(parts.total == (try folded(records).groups.total), "\(seed)")
    }
  }

  @Test("grouped by method, a session's refreshes count under the method of its login")
  func byMethod() throws {
    let groups = try folded(SampleJournal.records, by: .method).groups.figures
    #expect(Set(groups.keys) == [.word("password"), .word("biometric")])
    let rejected = try #require(groups[.word("password")])
    #expect(rejected.succeeded == 2)
    #expect(named(rejected.failures) == ["server": 1, "rejected": 1])
    #expect(rejected.recovery.histogram.maximum == 540)
    #expect(rejected.neverRecovered == 1)
    #expect(rejected.latency.histogram.maximum == 45)
    #expect(rejected.length.histogram.maximum == 59_975)
    #expect(groups[.word("biometric")]?.length.histogram.maximum == 86_300_000)
  }

  @Test("grouped by day, a record counts on its own day in the requested zone")
  func byDay() throws {
    func days(_ hours: Int64) throws -> [StatsKey: StatsFigures] {
      var fold = StatsFold(by: .day, offset: { _ in hours * 3_600_000 })
      try fold.count(SampleJournal.records)
      fold.finish()
      return fold.groups.figures
    }
    // The sample begins on 2026-11-21 at 14:00Z, day 20,778. A new login follows an hour later.
    let utc = try days(0)
    #expect(Set(utc.keys) == [.day(20_778), .day(20_779)])
    #expect(utc[.day(20_778)]?.sessions == 2)
    #expect(utc[.day(20_779)]?.ended == 1)
    let east = try days(9)
    #expect(east[.day(20_778)]?.sessions == 1)
    #expect(east[.day(20_779)]?.sessions == 1)
    #expect(Set(try days(-24).keys) == [.day(20_777), .day(20_778)])
  }

  @Test("RPL-4 grouped by version, a record counts for the app that last opened the journal")
  func byVersion() throws {
    var seen: Set<StatsKey> = []
    for seed in 0..<60 as Range<UInt64> {
      let records = try DrawnSession.ofFigures(seed: seed, records: 90)
      let groups = try folded(records, by: .version).groups.figures
      // The simple way: cut the history at each opening, and name each piece by its app.
      var app = StatsFold.noVersion
      var sessions: [StatsKey: UInt64] = [:]
      var successes: [StatsKey: UInt64] = [:]
      for record in records {
        if case .note(.opened(let opened)) = record.content {
          app = opened.app?.description ?? "(unknown)"
        }
        if case .event(.login) = record.content { sessions[.word(app), default: 0] += 1 }
        if case .event(.refreshSucceeded) = record.content {
          successes[.word(app), default: 0] += 1
        }
      }
      #expect(groups.mapValues(\.sessions).filter { $0.value > 0 } == sessions, "\(seed)")
      #expect(groups.mapValues(\.succeeded).filter { $0.value > 0 } == successes, "\(seed)")
      seen.formUnion(sessions.keys)
    }
    #expect(seen == [.word("(unknown)"), .word("2.4.1"), .word("2.5.0+7")])
    let sample = try folded(SampleJournal.records, by: .version).groups.figures
    #expect(Set(sample.keys) == [.word("2.4.1+318")])
  }

  @Test("grouped by cause, a session waits for its explanation, up to the end of the journal")
  func byCause() throws {
    var fold = StatsFold(by: .cause)
    try fold.count(SampleJournal.records)
    let end = try #require(SampleJournal.records.first { $0.name == "sessionExpired" })
    fold.explain(endAt: end.sequence, cause: "refused")
    fold.explain(endAt: end.sequence, cause: "never")
    fold.finish()
    let groups = fold.groups.figures
    #expect(Set(groups.keys) == [.word("refused"), .word(StatsFold.unexplained)])
    #expect(groups[.word("refused")]?.causes == ["refused": 1])
    #expect(groups[.word("refused")]?.succeeded == 2)
    var many = try DrawnSession.ofFigures(seed: 4, records: 4_000)
    many.removeAll { if case .unknown = $0.content { true } else { false } }
    let total = try folded(many, by: .cause).groups.total
    #expect(total == (try folded(many).groups.total))
  }

  @Test("RPL-4 a failure names the end of a session only if nothing succeeded after it")
  func lastFailure() throws {
    func ends(_ events: [SessionEvent]) throws -> [ReplayCommands.SessionEnd: UInt64] {
      let records = zip(1..., events).map {
        SessionRecord(sequence: $0, time: SampleJournal.start, content: .event($1))
      }
      return try folded(records).groups.total.ends
    }
    let login = SessionEvent.login(as: SampleJournal.user)
    let failure = SessionEvent.refreshFailed(.noRefreshToken, of: 1)
    let end = SessionEvent.expired(.refreshRejected)
    #expect(try ends([login, failure, end]) == [.notRefreshed(.noRefreshToken): 1])
    for success in [.switched(to: .plainPrincipal), .refreshed(to: 2)] as [SessionEvent] {
      #expect(
        try ends([login, failure, success, end]) == [ReplayCommands.SessionEnd(.refreshRejected): 1]
      )
    }
  }

  @Test("an event that the state does not allow is refused and changes no figure")
  func illegal() throws {
    var fold = StatsFold(by: nil)
    let logout = SessionRecord(
      sequence: 99, time: SampleJournal.start, content: .event(.logout(.init(reason: .user))))
    #expect(throws: PayloadFold.Failure.self) { try fold.count(SampleJournal.records + [logout]) }
    fold.finish()
    let legal = try folded(SampleJournal.records)
    #expect(fold.groups == legal.groups)
    #expect(fold.records == 27)
  }
}

extension StatsFold {
  /// Counts records that follow each other from the first on, as `stats` counts their payloads.
  mutating func count(_ records: [SessionRecord]) throws {
    var payloads = GappedPayloadFold()
    for record in records {
      let (kind, payload) = SessionCodec.encode(record.content, at: record.time)
      let step = try payloads.apply(
        sequence: record.sequence, kind: kind, payload: payload.span.bytes)
      if case .note(.opened(let opened)) = record.content { open(by: opened.app) }
      count(
        step.outline, sequence: record.sequence, at: step.time, from: step.before, to: step.after)
    }
  }
}

extension StatsFigures {
  /// Causes are counted only if figures are grouped by cause.
  var withoutCauses: StatsFigures {
    var figures = self
    figures.causes = [:]
    return figures
  }
}

extension SampleJournal {
  /// The sample's records without those of a newer version: sequences without a gap.
  static var records: [SessionRecord] {
    batches.flatMap { batch in batch.contents.map { (start.advanced(by: batch.after), $0) } }
      .enumerated().map { index, pair in
        SessionRecord(sequence: UInt64(index + 1), time: pair.0, content: pair.1)
      }
  }
}

@Suite("StatsGroups")
struct StatsGroupsTests {
  @Test("keys are sorted naturally: numbers in words by their value")
  func order() {
    let words = [
      "", "(unknown)", "1", "01", "2.4.1", "2.9.0", "2.10.0", "2.10.0-b2", "2.10.0-b10", "a", "a1",
      "a10b", "b", String(repeating: "9", count: 64), "1" + String(repeating: "0", count: 64),
    ]
    let keys = words.map { StatsKey.word($0) }
    let shown = keys.reversed().sorted { $0.comesBefore($1) }
    for (left, right) in zip(shown, shown.dropFirst()) { #expect(!right.comesBefore(left)) }
    for (earlier, later) in [
      ("2.9.0", "2.10.0"), ("2.10.0", "2.10.0-b2"), ("2.10.0-b2", "2.10.0-b10"), ("01", "1"),
      ("2.4.1", "a"), ("a", "a1"), (words[13], words[14]),
    ] {
      #expect(StatsKey.word(earlier).comesBefore(.word(later)), "\(earlier), \(later)")
      #expect(!StatsKey.word(later).comesBefore(.word(earlier)), "\(later), \(earlier)")
    }
  }

  private func figures(_ sessions: UInt64) -> StatsFigures {
    var figures = StatsFigures()
    figures.sessions = sessions
    return figures
  }

  @Test("groups beyond the limit are counted together, the same in any order")
  func bounded() {
    for seed in 0..<40 as Range<UInt64> {
      var chance = SplitMix(seed: seed)
      let added = (0..<60).map { _ in
        let number = Int64(chance.below(25)) - 9
        let key: StatsKey = seed % 2 == 0 ? .day(number) : .word("\(number)")
        return (key, figures(1 + chance.below(4)))
      }
      func groups(_ added: some Sequence<(StatsKey, StatsFigures)>) -> StatsGroups {
        var groups = StatsGroups(limit: 7)
        for (key, figures) in added { groups.add(figures, to: key) }
        return groups
      }
      let whole = groups(added)
      #expect(whole.figures.count == 7)
      #expect(whole == groups(added.reversed()))
      var halves = groups(added[30...])
      halves.merge(groups(added[..<30]))
      #expect(halves == whole)
      #expect(whole.total.sessions == added.reduce(0) { $0 + $1.1.sessions })
      // The limit keeps the last days and the first words.
      let keys = Set(added.map(\.0)).sorted()
      let kept = seed % 2 == 0 ? Array(keys.suffix(7)) : Array(keys.prefix(7))
      #expect(whole.figures.keys.sorted() == kept)
    }
  }
}
