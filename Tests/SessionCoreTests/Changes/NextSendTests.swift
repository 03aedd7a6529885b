@_spi(Internals) import SessionChangeQueue
@_spi(Internals) import SessionCore
import Testing

/// How the sending of a change ends, outcome by outcome.
@Suite("The end of a sending: ChangeQueue.events(ending:)")
struct NextSendTests {
  private static let now = Timestamp(milliseconds: 1_000)
  private static let policy = ChangePolicy(attempts: 3, firstDelay: .seconds(2))

  private static func change(_ key: Identifier) -> Change {
    Change(.update, EntityReference("task", key), content: [1], key: key)
  }

  private static func postponed(_ milliseconds: Int64, isCounted: Bool, _ reason: String)
    -> ChangeEvent
  {
    .postponed(
      .init(key: "a", isCounted: isCounted, retryAt: now.advanced(by: milliseconds), reason: reason)
    )
  }

  /// A queue whose first change `s` has sent, after this many counted failures.
  private func queue(failures: Int = 0) throws -> ChangeQueue {
    var queue = ChangeQueue()
    for key in ["a", "b"] as [Identifier] {
      try queue.apply(.added(.init(user: "u-1", change: Self.change(key))), at: Self.now)
    }
    for attempt in 0...failures {
      let sent = ChangeEvent.Sent(
        key: "a", sender: "s", process: 7, deadline: Self.now.advanced(by: 60_000))
      try queue.apply(.sent(sent), at: Self.now)
      guard attempt < failures else { continue }
      try queue.apply(Self.postponed(0, isCounted: true, "503"), at: Self.now)
    }
    return queue
  }

  @Test(
    "SYN-3 a response acknowledges, postpones or gives up the change",
    arguments: [
      (0, .done, .acknowledged("a")),
      (0, .refused("422"), .givenUp(.init(key: "a", cause: .refused, reason: "422"))),
      (0, .tryLater("503"), postponed(2_000, isCounted: true, "503")),
      (1, .tryLater("503"), postponed(4_000, isCounted: true, "503")),
      // The third failure is the last one that the policy allows.
      (2, .tryLater("503"), .givenUp(.init(key: "a", cause: .attemptsExhausted, reason: "503"))),
      // The server may request a longer delay, up to a day, and not a shorter one.
      (0, .tryLater("429", after: .seconds(90)), postponed(90_000, isCounted: true, "429")),
      (0, .tryLater("429", after: .seconds(1)), postponed(2_000, isCounted: true, "429")),
      (0, .tryLater("429", after: .seconds(-9)), postponed(2_000, isCounted: true, "429")),
      (0, .tryLater("429", after: .seconds(86_401)), postponed(86_400_000, isCounted: true, "429")),
      (
        0, .tryLater("429", after: .seconds(Int64.max)),
        postponed(86_400_000, isCounted: true, "429")
      ),
      // A missing network counts for nothing, however often.
      (2, .notReached("offline"), postponed(2_000, isCounted: false, "offline")),
    ] as [(Int, SendOutcome, ChangeEvent)])
  func outcomes(failures: Int, outcome: SendOutcome, event: ChangeEvent) throws {
    var queue = try queue(failures: failures)
    let events = queue.events(
      ending: "a", sender: "s", outcome: outcome, policy: Self.policy, at: Self.now)
    #expect(events == [event])
    for event in events { try queue.apply(event, at: Self.now) }
  }

  @Test("SYN-3 an outcome that comes too late changes nothing")
  func tooLate() throws {
    func events(_ queue: ChangeQueue, _ key: Identifier, by sender: Identifier) -> [ChangeEvent] {
      queue.events(ending: key, sender: sender, outcome: .done, policy: Self.policy, at: Self.now)
    }
    var queue = try queue()
    #expect(events(queue, "a", by: "s") == [.acknowledged("a")])
    #expect(events(queue, "a", by: "t").isEmpty, "another process has sent it since")
    #expect(events(queue, "b", by: "s").isEmpty, "it is not the first change")
    try queue.apply(.discarded(.init(key: "a", cause: .app)), at: Self.now)
    #expect(events(queue, "a", by: "s").isEmpty, "it was discarded meanwhile")
    #expect(events(queue, "b", by: "s").isEmpty, "it was never sent")
    #expect(events(ChangeQueue(), "a", by: "s").isEmpty)
  }
}

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
