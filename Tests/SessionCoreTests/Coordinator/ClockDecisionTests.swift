@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Decisions: clocks")
struct ClockDecisionTests {
  @Test("REF-8 a jump of the civil time does not end a session that cannot be refreshed")
  func expiryAfterJump() {
    var bench = CoordinatorBench.signedIn(isRefreshable: false)
    let end = bench.now.uptime + CoordinatorBench.lifetime
    bench.now = ClockReading(time: bench.now.time.advanced(by: 1 << 40), uptime: bench.now.uptime)
    let effects = bench.tell(.fired(.expiry))
    #expect(effects.uptime(of: .expiry) == end)
    #expect(bench.names == ["login"])
  }

  @Test("REF-8 civil time that was set back does not keep it beyond its end")
  func expiryAfterSettingBack() {
    var bench = CoordinatorBench.signedIn(isRefreshable: false)
    bench.now = ClockReading(
      time: Timestamp(milliseconds: 0), uptime: bench.now.uptime + CoordinatorBench.lifetime)
    bench.tell(.fired(.expiry))
    #expect(bench.names.contains("sessionExpired"))
  }

  @Test("REF-8 a token's lifetime starts when its response arrives, however late it is journaled")
  func lifeFromArrival() {
    var bench = CoordinatorBench.signedIn()
    let (_, sent) = bench.refresh()
    bench.commitEndings = [.fails]
    let arrival = bench.now.uptime
    bench.tell(.answered(sent.request ?? RequestNumber(0), .token()))
    bench.advance(by: 5_000)
    bench.tell(.fired(.commit))
    #expect(bench.names.last == "refreshSucceeded")
    #expect(bench.coordinator.tokenDeadline == arrival + CoordinatorBench.lifetime)
  }

  @Test("REF-8 a response that waits for the journal and arrives again does not live longer")
  func comesAgain() {
    var bench = CoordinatorBench.signedIn()
    let (_, sent) = bench.refresh()
    bench.commitEndings = [.fails]
    let answer = SessionInput.answered(sent.request ?? RequestNumber(0), .token())
    bench.tell(answer)
    let deadline = bench.now.uptime + CoordinatorBench.lifetime
    bench.advance(by: 60_000)
    bench.tell(answer)
    #expect(bench.coordinator.state.token?.generation == Generation(2))
    #expect(bench.coordinator.tokenDeadline == deadline)
  }

  /// Refreshes with a response in which the server's clock is earlier than the device's by this.
  private func refresh(_ bench: inout CoordinatorBench, skew: Int64) {
    let (_, sent) = bench.refresh()
    var facts = ResponseMetadata.token()
    facts.serverTime = bench.now.time.advanced(by: -skew)
    bench.tell(.answered(sent.request ?? RequestNumber(0), facts))
  }

  @Test("REF-8 the clock skew is noted if it changes by 30 s, not for each response")
  func skew() {
    var bench = CoordinatorBench.signedIn()
    for skew: Int64 in [0, 29_999, -29_999] { refresh(&bench, skew: skew) }
    #expect(!bench.names.contains("clockSkew"), "this device is right")
    let before = bench.names.count
    for skew: Int64 in [7_200_000, 7_201_000, 7_199_000, 7_229_999] { refresh(&bench, skew: skew) }
    refresh(&bench, skew: -3_600_000)
    refresh(&bench, skew: -3_600_000)
    refresh(&bench, skew: 500)
    let sent = "requestSent"
    let (refreshed, noted) = ("refreshSucceeded", "clockSkew")
    #expect(
      Array(bench.names.dropFirst(before)) == [
        sent, refreshed, noted, sent, refreshed, sent, refreshed, sent, refreshed,
        sent, refreshed, noted, sent, refreshed, sent, refreshed, noted,
      ])
  }

  @Test("REF-8 a token whose lifetime the device's clock measured is marked in its batch")
  func deviceClock() {
    var bench = CoordinatorBench.signedIn()
    var facts = ResponseMetadata.token()
    facts.isMeasuredByDevice = true
    bench.tell(.answered(bench.refresh().1.request ?? RequestNumber(0), facts))
    #expect(bench.names.suffix(2) == ["refreshSucceeded", "deviceClockUsed"])
    refresh(&bench, skew: 0)
    #expect(bench.names.last == "refreshSucceeded")
  }

  @Test(
    "REF-8 a stored end by the system's uptime takes precedence over civil time")
  func restored() throws {
    for (deadline, isGood) in [(1_000, true), (-1_000, false)] as [(Int64, Bool)] {
      for jump: Int64 in [-90_000_000, 0, 90_000_000] {
        var bench = try CoordinatorBench(journal: [.event(OpenDecisionTests.login)])
        bench.jump(by: jump)
        var facts = StoredItemsReport.session(1)
        facts.deadline = bench.now.uptime + deadline
        bench.tell(.opened(facts))
        #expect(bench.coordinator.isTokenGood(at: bench.now.uptime) == isGood, "\(jump)")
        // It belongs to another token and does not apply to this one.
        var older = StoredItemsReport.session(1)
        older.deadline = bench.now.uptime + deadline
        older.generation = Generation(2)
        var other = try CoordinatorBench(journal: [.event(OpenDecisionTests.login)])
        other.tell(.opened(older))
        #expect(other.coordinator.tokenDeadline != bench.now.uptime + deadline)
      }
    }
  }
}
