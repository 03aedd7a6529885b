import ChildProcesses
import SessionTestKit
import Testing

@Suite("TST-1: cancelled checks")
struct CancelTests {
  private func property(_ scratch: TemporaryFolder) -> Property {
    Property(
      "cancelled", cases: 1_000, regressions: RegressionFolder(path: scratch.path),
      settings: PropertySettings())
  }

  private static func cancel() {
    withUnsafeCurrentTask { $0?.cancel() }
  }

  @Test("TST-1: a case that fails because its task is cancelled does not count and is not saved")
  func thrown() async throws {
    let property = property(try TemporaryFolder())
    let report = await Task {
      await property.check { choices in
        await Task.yield()
        if choices.draw(below: 1_000) > 500 { Self.cancel() }
        try Task.checkCancellation()
      }
    }.value
    #expect(report.failure == nil, "\(report.text)")
    #expect(report.text.contains("\n  cancelled after \(report.cases) of 1000 cases"))
    #expect(!report.hasPassed)
    #expect(report.cases < 20)
  }

  @Test("TST-1: a synchronous check ends when its task is cancelled")
  func synchronous() async throws {
    let property = property(try TemporaryFolder())
    let report = await Task {
      property.check { _ in Self.cancel() }
    }.value
    #expect(report.text.contains("cancelled after 1 of 1000 cases"))
  }

  @Test("TST-1: a check cancelled while it shrinks reports and saves the case known so far")
  func shrinking() async throws {
    let scratch = try TemporaryFolder()
    let property = property(scratch)
    let report = await Task {
      var failures = 0
      return await property.check { choices in
        await Task.yield()
        let value = choices.draw(below: 1_000_000)
        choices.step("value \(value)")
        guard value >= 300 else { return }
        failures += 1
        if failures == 4 { Self.cancel() }
        try Task.checkCancellation()
        try choices.require(false, "great")
      }
    }.value
    let failure = try #require(report.failure)
    guard case .failed = report.outcome else {
      Issue.record("\(report.text)")
      return
    }
    #expect(failure.message.hasPrefix("great"))
    #expect((failure.choices.first ?? 0) > 300)
    #expect(failure.shrinkStop == "the task was cancelled")
    #expect(failure.savedAt != nil)
  }

  @Test(
    "TST-1: a check cancelled before the failing case runs again reports the case without saving it"
  )
  func unconfirmed() async throws {
    let scratch = try TemporaryFolder()
    let property = property(scratch)
    let report = await Task {
      var failures = 0
      return await property.check { choices in
        await Task.yield()
        guard choices.draw(below: 1_000) >= 300 else { return }
        failures += 1
        if failures == 2 { Self.cancel() }
        try Task.checkCancellation()
        try choices.require(false, "great")
      }
    }.value
    let failure = try #require(report.failure)
    #expect(failure.message.hasPrefix("great"))
    #expect(report.text.contains("after 0 runs the task was cancelled"), "\(report.text)")
    #expect(failure.savedAt == nil)
  }
}
