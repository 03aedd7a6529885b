@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

/// Which token suffices for a caller that names its minimum lifetime.
@Suite("Decisions: a token with a minimum of life")
struct TokenMinimumTests {
  /// A minimum, the age of a token with its whole lifetime, and whether a request follows.
  private static let rows: [(lifetime: Int64, passed: Int64, minimum: Int64, sends: Bool)] = [
    (600_000, 0, 0, false), (600_000, 0, 120_000, false), (600_000, 480_000, 120_000, false),
    (600_000, 480_001, 120_000, true), (600_000, 599_999, 1, false), (600_000, 600_000, 0, true),
    (600_000, 600_000, -5, true), (600_000, 300_000, -5, false), (600_000, 300_000, .min, false),
    (600_000, 1_000, .max, false), (600_000, 1_001, .max, true), (60_000, 0, 120_000, false),
    (60_000, 1_000, 120_000, false), (60_000, 1_001, 120_000, true), (500, 0, 120_000, false),
    (500, 499, 120_000, false), (500, 500, 120_000, true),
  ]

  @Test(
    "REF-15 a refresh follows if the token lives less than the minimum and did not just arrive",
    arguments: rows)
  func table(lifetime: Int64, passed: Int64, minimum: Int64, sends: Bool) {
    var bench = CoordinatorBench.signedIn(lifetime: lifetime)
    bench.advance(by: passed)
    let caller = bench.caller()
    let effects = bench.tell(.refresh(caller, .manual, .unlessGood(for: minimum)))
    #expect(effects.sendCount == (sends ? 1 : 0))
    #expect(effects.reply(to: caller) == (sends ? nil : .refreshed))
  }

  @Test("REF-15 a larger minimum causes a refresh whenever a smaller one does")
  func grows() {
    for passed in stride(from: 0 as Int64, through: 61_000, by: 500) {
      var wasSent = false
      for minimum in [Int64.min, -1, 0, 1, 999, 1_000, 30_000, 59_000, 60_000, .max] {
        var bench = CoordinatorBench.signedIn(lifetime: 60_000)
        bench.advance(by: passed)
        let caller = bench.caller()
        let sent =
          bench.tell(.refresh(caller, .manual, .unlessGood(for: minimum))).sendCount == 1
        #expect(sent || !wasSent, "\(minimum) ms after \(passed) ms")
        wasSent = sent
      }
      #expect(wasSent == (passed > 1_000))
    }
  }

  @Test("REF-15 REF-3 callers with different minimums share one request, and one reply serves all")
  func shared() {
    var bench = CoordinatorBench.signedIn(lifetime: 60_000)
    bench.advance(by: 20_000)
    let callers = [bench.caller(), bench.caller(), bench.caller()]
    let minimums: [Int64] = [50_000, 300_000, .max]
    var request: RequestNumber?
    var sent = 0
    for (caller, minimum) in zip(callers, minimums) {
      let effects = bench.tell(.refresh(caller, .manual, .unlessGood(for: minimum)))
      sent += effects.sendCount
      request = request ?? effects.request
    }
    #expect(sent == 1)
    let modest = bench.caller()
    #expect(
      bench.tell(.refresh(modest, .manual, .unlessGood(for: 30_000))).reply(to: modest)
        == .refreshed, "a token that is good enough is not waited for")
    let effects = bench.tell(
      .answered(request ?? RequestNumber(0), .token(lifetime: 10_000)))
    for caller in callers { #expect(effects.reply(to: caller) == .refreshed) }
    #expect(effects.sendCount == 0, "a short life is no reason to ask again")
  }

  @Test("REF-15 a server that has just failed does not receive a request for each caller")
  func rests() {
    let trouble = RequestFailure(kind: .server, status: 503)
    var bench = CoordinatorBench.signedIn(lifetime: 600_000)
    bench.advance(by: 500_000)
    let first = bench.tell(.refresh(bench.caller(), .manual, .unlessGood(for: 120_000))).request
    bench.tell(.failed(first ?? RequestNumber(0), trouble, jitter: 0))
    let caller = bench.caller()
    let effects = bench.tell(.refresh(caller, .manual, .unlessGood(for: 120_000)))
    #expect(effects == [.resume(caller, .failed(.request(trouble)))])
    let modest = bench.caller()
    #expect(
      bench.tell(.refresh(modest, .manual, .unlessGood(for: 60_000))).reply(to: modest)
        == .refreshed)
  }
}
