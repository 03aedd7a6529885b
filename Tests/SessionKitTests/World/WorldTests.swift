import Foundation
import SessionKit
import SessionTestKit
import Testing

@Suite("A simulated world")
struct WorldTests {
  static var cases: UInt64 {
    UInt64(ProcessInfo.processInfo.environment["SESSION_CASES"] ?? "") ?? 40
  }

  private func live(_ seed: UInt64, rotates: Bool, crashes: Bool) throws
    -> SimulatedLife.Findings
  {
    let life = SimulatedLife(Choices(seed: seed), rotates: rotates)
    var policy = SessionPolicy.edu(.staging)
    policy.requestTimeout = 2_000
    if seed % 2 == 0 { policy.onRejection = .keep }
    return try life.live(commands: 20, policy: policy, crashes: crashes)
  }

  @Test("TST-2 in any weather and any order: one request, every caller answered, nothing lost")
  func rough() throws {
    for seed in 0..<Self.cases {
      let findings = try live(seed, rotates: seed % 4 < 2, crashes: false)
      #expect(
        findings.problems.isEmpty, "seed \(seed): \(findings.log.joined(separator: "\n"))")
    }
  }

  @Test("JRN-1 two processes on one journal in rough weather: the same holds")
  func overtaken() throws {
    for seed in 0..<Self.cases {
      let findings = try live(seed, rotates: seed % 4 < 2, crashes: true)
      #expect(
        findings.problems.isEmpty, "seed \(seed): \(findings.log.joined(separator: "\n"))")
    }
  }

  @Test("TST-2 the same draws live the same life")
  func deterministic() throws {
    for seed in 0..<5 as Range<UInt64> {
      let first = try live(seed, rotates: true, crashes: false)
      let second = try live(seed, rotates: true, crashes: false)
      #expect(first.log == second.log)
      #expect(first.journal.map(\.name) == second.journal.map(\.name))
    }
  }
}
