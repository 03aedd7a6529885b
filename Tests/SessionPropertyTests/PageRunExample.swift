@_spi(Internals) import SessionCore
import SessionTestKit
import SessionTestSupport
import Testing

/// The examples of Specs/PropertyTesting.md that need what only this package's tests see.
@Suite("TST-1: the specification's examples of a coordinator")
struct PageRunExample {
  @Test("TST-1: runs of a coordinator")
  func runs() {
    // shown: begins
    expect(
      Property("our policy keeps the rules").check { choices in
        var policy = SessionPolicy.standard
        policy.refresh.attempts = choices.draw(in: 1...5) == 1 ? 1 : 5
        _ = try CoordinatorRun.random(choices, policy: policy, rules: CoordinatorRule.all)
      })
    // shown: ends
  }
}
