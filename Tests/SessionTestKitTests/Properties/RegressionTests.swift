import ChildProcesses
import Foundation
import SessionTestKit
import Testing

@Suite("TST-1: saved cases")
struct RegressionTests {
  private let scratch: TemporaryFolder

  init() throws { scratch = try TemporaryFolder() }

  private func property() -> Property {
    Property(
      "Values stay small!", regressions: RegressionFolder(path: scratch.path),
      settings: PropertySettings())
  }

  private static func body(_ limit: UInt64) -> (Choices) throws -> Void {
    { choices in
      let value = choices.draw(below: 1_000)
      choices.step("value \(value)")
      try choices.require(value < limit, "too\ngreat")
    }
  }

  @Test(
    "TST-1: a failing case is saved and runs first, and it warns if it passes before it is marked fixed"
  )
  func life() throws {
    let first = property().check(Self.body(300))
    let path = try #require(first.failure?.savedAt)
    #expect(path.hasPrefix(scratch.path + "/values-stay-small-"))
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.contains("property: Values stay small!\nstatus: open\nreplay: "))
    #expect(text.contains("\nmessage: too great ("))
    #expect(text.hasSuffix("\nsteps:\n  value 300\n"))

    var runs = 0
    let again = property().check { choices in
      runs += 1
      try Self.body(300)(choices)
    }
    #expect(runs == 2)
    #expect(again.failure?.savedAt == path)
    #expect(again.failure?.caseNumber == 0)
    #expect(again.text.contains("a saved case fails"))

    let mended = property().check(Self.body(1_000))
    #expect(mended.hasPassed)
    #expect(mended.savedCases == 1)
    #expect(mended.warnings.count == 1)
    #expect(mended.text.contains("passes now: write `status: fixed` in it"))

    try text.replacing("status: open", with: "status: fixed").write(
      toFile: path, atomically: true, encoding: .utf8)
    let guarded = property().check(Self.body(1_000))
    #expect(guarded.warnings.isEmpty)
    #expect(guarded.savedCases == 1)
    #expect(property().check(Self.body(300)).failure?.savedAt == path)
  }

  @Test("TST-1: a saved case that passes with other states is fixed, not stale")
  func mended() {
    func check(isMended: Bool) -> PropertyReport {
      property().check { choices in
        let value = choices.draw(below: 1_000)
        choices.step("value \(value)", state: isMended ? "good" : "bad")
        try choices.require(isMended || value < 300, "too great")
        choices.step("more")
      }
    }
    #expect(check(isMended: false).failure?.choices == [300])
    let report = check(isMended: true)
    #expect(report.warnings.count == 1)
    #expect(report.text.contains("passes now"))
    let discarding = property().check { choices in
      choices.step("value \(choices.draw(below: 1_000))")
      try choices.assume(choices.isTracing == false)
    }
    #expect(discarding.text.contains("is stale: it is discarded now"))
  }

  @Test("TST-1: a saved case whose draws have another meaning now results in a warning")
  func stale() throws {
    _ = property().check(Self.body(300))
    let report = property().check { choices in
      choices.step("other \(choices.draw(below: 10))")
    }
    #expect(report.hasPassed)
    #expect(report.warnings.count == 1)
    #expect(report.text.contains("is stale: its draws now produce other steps"))
  }

  @Test(
    "TST-1: a saved case that cannot be read results in a warning",
    arguments: [
      ("replay:", "code:", "it has no line replay:"),
      ("status: open", "status: ?", "its line status"),
      ("replay: 0", "replay: 1", "the replay code"),
      ("property: V", "property: v", "belongs to another property"),
      (
        "replay: 0", "replay: \(ReplayCode(property: "q", draws: [5]).text)\nx: 0",
        "belongs to another"
      ),
    ])
  func unreadable(old: String, new: String, reason: String) throws {
    let path = try #require(property().check(Self.body(300)).failure?.savedAt)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    try text.replacing(old, with: new).write(toFile: path, atomically: true, encoding: .utf8)
    let report = property().check(Self.body(1_000))
    #expect(report.hasPassed)
    #expect(report.savedCases == 0)
    #expect(report.warnings.count == 1)
    #expect(report.text.contains(reason), "\(report.text)")
  }

  @Test("TST-1: invalid UTF-8 and a folder that cannot be written result in warnings")
  func noText() throws {
    let path = try #require(property().check(Self.body(300)).failure?.savedAt)
    try Data([0xFF, 0xFE, 0xC0]).write(to: URL(filePath: path))
    #expect(property().check(Self.body(1_000)).warnings.count == 1)

    let file = scratch.path + "/file"
    try "no folder".write(toFile: file, atomically: true, encoding: .utf8)
    let report = Property(
      "p", regressions: RegressionFolder(path: file), settings: PropertySettings()
    ).check(Self.body(300))
    #expect(report.failure?.choices == [300])
    #expect(report.failure?.savedAt == nil)
    #expect(report.text.contains("Warning: the failing case could not be saved"))
    #expect(!report.text.contains("NSError") && !report.text.contains("Domain="), "\(report.text)")
  }

  @Test("TST-1: a folder that cannot be created is reported as such, not as a missing file")
  func noFolder() {
    let missing = CocoaError(.fileNoSuchFile)
    #expect(RegressionFolder.reason(missing) == "the system creates no folder there")
    #if os(Linux)
    let report = Property(
      "p", regressions: RegressionFolder(path: "/proc/nope"), settings: PropertySettings()
    ).check(Self.body(300))
    #expect(
      report.warnings == [
        "the failing case could not be saved in /proc/nope: the system creates no folder there"
      ])
    #endif
  }

  @Test(
    "TST-1: a saved case is read after an editor or version control changed its line ends",
    arguments: [("\n", "\r\n"), ("status: open", "status:  Fixed "), ("\nsteps", " \nsteps")])
  func edited(old: String, new: String) throws {
    let path = try #require(property().check(Self.body(300)).failure?.savedAt)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    try text.replacing(old, with: new).write(toFile: path, atomically: true, encoding: .utf8)
    let report = property().check(Self.body(1_000))
    #expect(report.savedCases == 1)
    #expect(report.warnings.isEmpty == new.contains("Fixed"), "\(report.text)")
    #expect(!report.text.contains("cannot be read"))
  }

  @Test("TST-1: names without ASCII letters have different folders")
  func letters() throws {
    let paths = ["été", "日本語", "ログアウト", "!"].map { name in
      Property(
        name, regressions: RegressionFolder(path: scratch.path), settings: PropertySettings()
      )
      .check(Self.body(300)).failure?.savedAt
    }
    #expect(Set(paths).count == 4)
    for path in paths { #expect(try !#require(path).contains("/-")) }
    #expect(try #require(paths[1]).contains("/property-"))
  }

  @Test("TST-1: the folder is that of the tests around the caller's file")
  func place() {
    #expect(RegressionFolder(around: "/a/Tests/B/C.swift").path == "/a/Tests/Regressions")
    #expect(RegressionFolder(around: "/a/b/C.swift").path == "/a/b/Regressions")
    #expect(RegressionFolder().path.hasSuffix("/Tests/Regressions"))
  }
}
