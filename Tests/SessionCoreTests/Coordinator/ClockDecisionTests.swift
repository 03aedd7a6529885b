import SessionCore
import SessionTestKit
import Testing

@Suite("Decisions: clocks")
struct ClockDecisionTests {
  @Test("REF-8 a jump of the civil time never ends a session that cannot be refreshed")
  func expiryAfterJump() {
    var bench = CoordinatorBench.signedIn(isRefreshable: false)
    let end = bench.now.uptime + CoordinatorBench.lifetime
    bench.now = Moment(time: bench.now.time.advanced(by: 1 << 40), uptime: bench.now.uptime)
    let effects = bench.tell(.fired(.expiry))
    #expect(effects.uptime(of: .expiry) == end)
    #expect(bench.names == ["login"])
  }

  @Test("REF-8 nor does civil time that was set back keep it beyond its end")
  func expiryAfterSettingBack() {
    var bench = CoordinatorBench.signedIn(isRefreshable: false)
    bench.now = Moment(
      time: Timestamp(milliseconds: 0), uptime: bench.now.uptime + CoordinatorBench.lifetime)
    bench.tell(.fired(.expiry))
    #expect(bench.names.contains("sessionExpired"))
  }

  @Test("REF-8 a token's life is counted from when its answer came, however late it is journaled")
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

  @Test("REF-8 an answer that waits to be journaled and comes again lives no longer for that")
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
}
