import Testing

@testable import ReplayCommands

@Suite("StatsGroups")
struct StatsGroupsTests {
  private func figures(_ sessions: UInt64) -> StatsFigures {
    var figures = StatsFigures()
    figures.sessions = sessions
    return figures
  }

  @Test("beyond the bound groups are counted together, the same whatever the order")
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
      // The last days, the first words.
      let keys = Set(added.map(\.0)).sorted()
      let kept = seed % 2 == 0 ? Array(keys.suffix(7)) : Array(keys.prefix(7))
      #expect(whole.figures.keys.sorted() == kept)
    }
  }
}
