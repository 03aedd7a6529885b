import Testing

@testable import ReplayCommands

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
    for (left, right) in zip(shown, shown.dropFirst()) {
      #expect(!right.comesBefore(left))
    }
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
      var chance = Chance(seed)
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
