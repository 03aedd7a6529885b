import SessionKit
import SessionTestKit
import SessionTesting
import Testing

@Suite("A simulated world")
struct WorldTests {
  private func live(_ choices: Choices, _ fate: SimulatedLife.Fate) throws {
    let life = SimulatedLife(choices, rotates: choices.chance(1, in: 2))
    var policy = SessionPolicy.edu(.staging)
    policy.requestTimeout = 2_000
    if choices.chance(1, in: 2) { policy.onRejection = .keep }
    let findings = try life.live(
      commands: choices.draw(in: 1...24), policy: policy, fate: fate)
    for line in findings.log { choices.step(line) }
    try choices.require(
      findings.problems.isEmpty, findings.problems.joined(separator: "; "))
  }

  @Test("TST-2 REF-3 in any weather and order: one request, all answered, nothing lost or leaked")
  func rough() {
    expect(
      Property("a session in rough weather", cases: 60, regressions: .init(around: #filePath))
        .check { try live($0, .alone) })
  }

  @Test("JRN-1 REF-3 two processes on one journal in rough weather: the same holds")
  func overtaken() {
    expect(
      Property(
        "two processes on one journal in rough weather", cases: 60,
        regressions: .init(around: #filePath)
      )
      .check { try live($0, .others) })
  }

  @Test("JRN-2 OUT-1 REF-7 a power cut at any moment: what was told is so, no token is lost")
  func powerCuts() {
    expect(
      Property(
        "a session whose power fails", cases: 60, regressions: .init(around: #filePath)
      )
      .check { try live($0, .powerCuts) })
  }

  @Test("TST-2 the same draws live the same life")
  func deterministic() throws {
    for seed in 0..<5 as Range<UInt64> {
      let first = Choices(seed: seed)
      let policy = SessionPolicy.edu(.staging)
      let one = try SimulatedLife(first, rotates: true)
        .live(commands: 12, policy: policy)
      let two = try SimulatedLife(Choices(replaying: first.recorded), rotates: true)
        .live(commands: 12, policy: policy)
      #expect(one.log == two.log)
      #expect(one.journal.map(\.name) == two.journal.map(\.name))
    }
  }
}
