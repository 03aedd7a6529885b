import Testing

@_spi(Internals) @testable import SessionCore

/// The lists of waiting callers, operation by operation.
@Suite("The machine WaitingCallers")
struct WaitingCallersTests {
  private static let goals: [WaitingCallers.Goal] = [.token, .context, .items, .close]
  private let one = Caller(1)
  private let two = Caller(2)

  @Test("STA-7 none: every list is empty", arguments: goals)
  func none(goal: WaitingCallers.Goal) {
    var callers = WaitingCallers()
    #expect(callers.isEmpty(goal) && callers.first(goal) == nil)
    #expect(callers.takeFirst(goal) == nil)
    #expect(callers.takeAll(goal).isEmpty)
  }

  @Test("STA-7 waiting: callers leave in the order in which they came, each once", arguments: goals)
  func order(goal: WaitingCallers.Goal) {
    var callers = WaitingCallers()
    callers.add(one, for: goal)
    callers.add(two, for: goal)
    #expect(callers.count(goal) == 2 && callers.first(goal) == one)
    for other in Self.goals where other != goal { #expect(callers.isEmpty(other)) }
    #expect(callers.takeFirst(goal) == one)
    callers.addFirst(one, for: goal)
    #expect(callers.takeAll(goal) == [one, two])
    #expect(callers == WaitingCallers())
  }

  @Test("STA-7 waiting: several lists are taken in the order of the question")
  func several() {
    var callers = WaitingCallers()
    callers.add(one, for: .token)
    callers.add(two, for: .context)
    #expect(callers.takeAll(.context, .token) == [two, one])
  }

  @Test("STA-7 cancel: the caller leaves, unless it closes the session", arguments: goals)
  func cancelled(goal: WaitingCallers.Goal) {
    var callers = WaitingCallers()
    callers.add(one, for: goal)
    callers.add(two, for: goal)
    callers.cancel(one)
    #expect(callers.takeAll(goal) == (goal == .close ? [one, two] : [two]))
  }
}
