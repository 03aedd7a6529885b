import SessionJournal
import Testing

@testable import SessionKit

@Suite("Trying a busy log again")
struct BusyRetryTests {
  @Test("SCL-1 pauses grow to their limit, and the time of tries and pauses ends at the deadline")
  func pauses() {
    var retry = BusyRetry(limit: .milliseconds(300))
    var verdicts: [BusyRetry.Verdict] = []
    while true {
      let verdict = retry.failed(busy(10))
      verdicts.append(verdict)
      if case .over = verdict { break }
    }
    // 10 + 5, 10 + 10, 10 + 20, 10 + 40, then three times 10 + 50. The last try ends at 305 ms.
    #expect(
      verdicts == [
        .again(after: 5), .again(after: 10), .again(after: 20), .again(after: 40),
        .again(after: 50), .again(after: 50), .again(after: 50), .over(busy(305)),
      ])
  }

  @Test(
    "SCL-1 without time for another try it is over",
    arguments: [
      (.zero, [0], .over(busy(0))),
      (.milliseconds(-1), [7], .over(busy(7))),
      (.milliseconds(10), [10], .over(busy(10))),
      (.milliseconds(10), [9], .again(after: 1)),
      (.milliseconds(10), [9, 0], .over(busy(10))),
      (.seconds(5), [4_999], .again(after: 1)),
      (.seconds(5), [.max], .over(busy(UInt64(Int64.max)))),
    ] as [(Duration, [UInt64], BusyRetry.Verdict)])
  func ends(limit: Duration, waited: [UInt64], result: BusyRetry.Verdict) {
    var retry = BusyRetry(limit: limit)
    let verdicts = waited.map { retry.failed(busy($0)) }
    #expect(verdicts.last == result)
  }

  @Test("SCL-1 another error than busy is not tried again")
  func others() {
    var retry = BusyRetry(limit: .seconds(5))
    #expect(retry.failed(.closed(path: "a")) == .over(.closed(path: "a")))
    #expect(retry.failed(busy(0)) == .again(after: 5))
  }
}

private func busy(_ waited: UInt64) -> JournalError { .busy(path: "a", waited: waited) }
