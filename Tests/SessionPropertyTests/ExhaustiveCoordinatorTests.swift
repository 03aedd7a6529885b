@_spi(Internals) import SessionCore
@_spi(Internals) import SessionTestKit
import SessionTestSupport
import Testing

/// Every short sequence of moves with a signed-in session, under all rules.
@Suite("Exhaustive: the coordinator")
struct ExhaustiveCoordinatorTests {
  private func walk(
    _ run: CoordinatorRun, depth: Int, _ path: [CoordinatorRun.Letter], _ count: inout Int,
    first letters: [CoordinatorRun.Letter]? = nil
  ) throws {
    count += 1
    do {
      var ending = run
      try ending.finish()
    } catch {
      Issue.record("\(path.map(\.rawValue)), and then faults stop: \(error)")
      throw error
    }
    guard depth > 0 else { return }
    for letter in letters ?? CoordinatorRun.Letter.allCases {
      guard let move = run.move(letter) else { continue }
      var next = run
      do {
        try next.make(move)
      } catch {
        Issue.record("\((path + [letter]).map(\.rawValue)): \(error); \(next.line)")
        throw error
      }
      try walk(next, depth: depth - 1, path + [letter], &count)
    }
  }

  @Test(
    "X1 TST-1 every sequence of moves keeps every rule",
    arguments: [(SessionPolicy.bench, true), (.benchKeeping, true), (.bench, false)])
  func every(policy: SessionPolicy, isRefreshable: Bool) throws {
    var count = 0
    let run = try CoordinatorRun.signedIn(
      policy, rules: CoordinatorRule.all, isRefreshable: isRefreshable)
    let sweep = Sweep("first moves, \(policy.name), \(isRefreshable)", takingOneOf: 3)
    let first = sweep.places(of: CoordinatorRun.Letter.allCases.filter { run.move($0) != nil })
    try walk(run, depth: Scale.isOptimised ? 5 : 3, [], &count, first: first)
    #expect(count > sweep.cases(of: 1_000))
    print("X1: \(count) sequences of moves, policy \(policy.name), refreshable \(isRefreshable)")
  }
}
