import Testing

@testable import SessionKit

@Suite("Subscribers that wait for a newer status")
struct StatusHubTests {
  private func number(_ answer: StatusHub.Answer) -> UInt64? {
    if case .value(_, let number) = answer { number } else { nil }
  }

  @Test("STA-7 an unchanged status is not delivered, and the end comes after the last status")
  func sameAgain() async {
    let hub = StatusHub()
    let first = number(await hub.answer(after: 0))
    hub.publish(SessionStatus(activity: .idle))
    let second = number(await hub.answer(after: first ?? 0))
    #expect(second != first && second != nil)
    hub.publish(SessionStatus(activity: .idle))
    hub.finish()
    #expect(number(await hub.answer(after: second ?? 0)) == nil)
    #expect(number(await hub.answer(after: first ?? 0)) == second)
    #expect(hub.current.activity == .idle)
  }

  @Test("STA-7 all waiting subscribers receive the newest status")
  func everybody() async {
    let hub = StatusHub()
    let start = number(await hub.answer(after: 0)) ?? 0
    let seen = await withTaskGroup(of: SessionActivity?.self) { group in
      for _ in 1...20 {
        group.addTask {
          guard case .value(let status, _) = await hub.answer(after: start) else { return nil }
          return status.activity
        }
      }
      hub.publish(SessionStatus(activity: .refreshing))
      var seen: [SessionActivity?] = []
      for await activity in group { seen.append(activity) }
      return seen
    }
    #expect(seen == Array(repeating: .refreshing, count: 20))
  }
}
