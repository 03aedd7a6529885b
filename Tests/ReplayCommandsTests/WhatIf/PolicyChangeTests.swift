import Foundation
import SessionCore
import Testing

@testable import ReplayCommands

@Suite("--policy")
struct PolicyChangeTests {
  private let journal = Repository.root.appending(path: "Specs/Journals/refused.journal")
    .path(percentEncoded: false)

  private func change(_ text: String) throws -> PolicyChange {
    try PolicyChange(text) { Selector.span($0[...]) }
  }

  @Test("RPL-10 changes apply to the recorded policy, a preset replaces it, and its timeout stays")
  func apply() throws {
    var recorded = SessionPolicy.clearOnRefusal
    (recorded.refresh.attempts, recorded.refresh.timeout) = (7, .seconds(5))
    let text =
      "attempts=2,refused=keep,exhausted=expiry-clear,refusedToken=deliver,inactivity=30m,"
      + "lifetime=12h,threshold=none,firstDelay=500ms,launch=always"
    let policy = try change(text).applied(to: recorded)
    #expect(policy.refresh.attempts == 2)
    #expect(policy.ending.onRejection == .keep)
    #expect(policy.ending.onExhaustion == .endAfterExpiry(.clear))
    #expect(policy.ending.onRefusedToken == .deliver)
    #expect(policy.ending.inactivityLimit == .seconds(1_800))
    #expect(policy.ending.absoluteLifetime == .seconds(43_200))
    #expect(policy.refresh.beforeExpiry == nil)
    #expect(policy.refresh.firstRetryDelay == .milliseconds(500))
    #expect(policy.refresh.atLaunch == .always)
    #expect(policy.refresh.timeout == .seconds(5))
    #expect(try change("inactivity=1s").applied(to: recorded).refresh.attempts == 7)
    var preset = try change("offlineFirst,attempts=4").applied(to: recorded)
    #expect(preset.refresh.timeout == .seconds(5))
    preset.refresh.timeout = .seconds(30)
    var expected = SessionPolicy.offlineFirst
    expected.refresh.attempts = 4
    #expect(preset.refresh == expected.refresh && preset.ending == expected.ending)
  }

  @Test(
    "RPL-10 a wrong policy is an error of usage with the nearest word",
    arguments: [
      ("offlinefirst2", "offlineFirst"), ("standart", "standard"), ("attempts", "attempts=1"),
      ("atempts=5", "attempts=1"), ("attempts=none", "attempts=1"), ("attempts=0", "attempts=1"),
      ("refused=kep", "refused=keep"), ("refused=", "refused=keep"),
      ("exhausted=end-kep", "exhausted=end-keep"), ("inactivity=30", "inactivity=30m"),
      ("lifetime=nome", "lifetime=none"), ("threshold=-5m", "threshold=5m"),
      ("firstDelay=1ms", "firstDelay=500ms"), ("launch=allways", "launch=always"),
      ("standard,staging", "one of attempts"), ("attempts=1,attempts=2", "attempts=1"),
      ("", "standard"), ("xyzzy=1", "one of attempts"),
    ])
  func wrong(text: String, next: String) {
    let run = ToolRun.inProcess(["whatif", journal, "--policy", text])
    #expect(run.code == 64)
    #expect(run.output.isEmpty)
    let lines = run.errors.split(separator: "\n")
    #expect(lines.first?.hasPrefix("Error: ") == true)
    #expect(lines.last?.hasPrefix("Try: ") == true)
    #expect(lines.last?.contains(next) == true, "\(run.errors)")
  }

  @Test("RPL-10 whatif without a policy says that it needs one")
  func missing() {
    let run = ToolRun.inProcess(["whatif", journal])
    #expect(run.code == 64)
    #expect(run.errors.contains("--policy standard"))
  }
}
