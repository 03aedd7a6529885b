@_spi(Internals) import SessionCore
import Testing

@Suite("Specs/ChangeLog.md: the status of the user")
struct StatusFreshnessTests {
  private func time(_ cell: String?) throws -> Timestamp? {
    guard let cell, !cell.isEmpty else { return nil }
    let seconds = try #require(Int64(cell.split(separator: " ").first ?? ""))
    return Timestamp(milliseconds: seconds * 1_000)
  }

  private func word(_ news: StatusFreshness) -> String {
    switch news {
    case .unsaid: "unsaid"
    case .same: "same"
    case .newer: "newer"
    case .stale: "stale"
    }
  }

  @Test("LOG-6 SYN-4 the time of a profile is judged as in each row of the page")
  func table() throws {
    let rows = try SpecFile("Specs/ChangeLog.md").table(under: "How the user stands")
    var words: Set<String> = []
    for row in rows {
      let found = try time(row["found"])
      let news = StatusFreshness.of(
        found, known: try time(row["known"]), now: try time(row["Date"]))
      #expect(word(news) == row["is"], "\(row)")
      if case .newer(let time) = news { #expect(time == found) }
      words.insert(word(news))
    }
    #expect(rows.count >= 10 && words == ["unsaid", "same", "newer", "stale"])
  }

  @Test("SYN-4 in any order of responses, knowledge about the status only grows")
  func growing() {
    let milliseconds: [Int64?] = [nil, -1, 0, 1, 2, 3]
    let times = milliseconds.map { $0.map { Timestamp(milliseconds: $0) } }
    for known in times {
      for found in times {
        let news = StatusFreshness.of(found, known: known, now: nil)
        switch news {
        case .newer(let time): #expect(known.map { time > $0 } ?? true)
        case .same: #expect(known == found)
        case .stale: #expect(known != nil && found != nil)
        case .unsaid: #expect(found == nil)
        }
      }
    }
  }
}
