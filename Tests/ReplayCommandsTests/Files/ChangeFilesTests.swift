import ChildProcesses
import Foundation
import SessionChangeQueue
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Testing

/// `Specs/Golden/changes`, and change logs as the input of commands about sessions.
@Suite("Change logs in the tool")
struct ChangeFilesTests {
  private static let folder = "Specs/Golden/changes"

  private static let golden: [(name: String, verdict: String, code: Int32)] = [
    ("plain", "good", 0), ("compacted", "good", 0), ("sign-ins", "good", 0),
    ("sign-ins-compacted", "good", 0), ("torn", "torn", 2), ("damaged", "damaged", 65),
    ("unknown-kind", "unknownKind", 65), ("newer-version", "unknownKind", 65),
  ]

  private static func path(_ name: String) -> String {
    Repository.root.appending(path: "\(folder)/\(name)").path(percentEncoded: false)
  }

  private func objects(_ text: some StringProtocol) throws -> [[String: Any]] {
    try text.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }

  /// The fields of a record that both readers print.
  private func said(_ line: [String: Any]) throws -> String {
    let keys = ["sequence", "offset", "name", "time", "facts"]
    let data = try JSONSerialization.data(
      withJSONObject: line.filter { keys.contains($0.key) }, options: [.sortedKeys])
    return String(decoding: data, as: UTF8.self)
  }

  @Test("the page names each golden change log, and no other")
  func page() throws {
    let page = try Repository.text("Specs/ChangeLog.md")
    let rows = page.matches(of: #/\| `([a-z-]+)\.journal` \|/#).map { String($0.1) }
    #expect(rows == Self.golden.map(\.name))
    let found = try FileManager.default.contentsOfDirectory(atPath: Self.path(""))
    #expect(Set(found) == Set(rows.flatMap { ["\($0).journal", "\($0).json"] }))
  }

  @Test("JRN-5 SYN-2 the tool reads each golden change log as the second reader does")
  func twoReaders() throws {
    for golden in Self.golden {
      let expected = try objects(try Repository.text("\(Self.folder)/\(golden.name).json"))
        .filter { $0["facts"] != nil }.map(said)
      let file = Self.path(golden.name + ".journal")
      let run = ToolRun.inProcess(["timeline", file, "--json"])
      // The second reader stops at damage; the tool reads on, and marks what is after it.
      let found = try objects(run.output)
        .filter { $0["facts"] != nil && $0["behind"] == nil }.map(said)
      // The second reader stops at a kind that it does not know.
      let isWhole = golden.verdict != "unknownKind"
      #expect(isWhole ? found.count == expected.count : found.count > expected.count)
      #expect(Array(found.prefix(expected.count)) == expected && expected.count > 1, "\(golden)")
      let verdict = ToolRun.inProcess(["verify", file, "--json"])
      let report = try #require(try objects(verdict.output).first)
      #expect(report["verdict"] as? String == golden.verdict)
      #expect(verdict.code == golden.code, "\(golden.name)")
    }
  }

  @Test(
    "JRN-5 the second reader, written only from the specification, still gives its recorded output")
  func secondReader() throws {
    for golden in Self.golden {
      let reader = try ChildProcess.python(
        [
          ChildProcess.specs + "/journal_reader.py", "--changes",
          Self.path(golden.name + ".journal"),
        ], errors: .dropped)
      #expect(reader.code == golden.code, "\(golden.name)")
      let isSame =
        try reader.text == Repository.text("\(Self.folder)/\(golden.name).json")
      #expect(isSame, "\(golden.name)")
    }
  }

  @Test(
    "RPL-5 SYN-2 commands about a session refuse a change log and name the commands that accept it")
  func refused() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    for name in ["changes.log", "changes-compacted.log", "changes-damaged.log"] {
      let path = folder.file(name)
      for arguments in [
        ["diff", path], ["why", path], ["export", path], ["export", path, "--format", "trace"],
        ["stats", path], ["report", path, "-o", folder.file("out.html")], ["step", path],
      ] {
        let run = ToolRun.inProcess(arguments, isTerminal: arguments[0] == "step")
        #expect(run.code == 64 && run.output.isEmpty, "\(arguments)")
        #expect(run.errors.contains("is a change log"), "\(arguments): \(run.errors)")
        #expect(run.errors.contains("sessionreplay state"), "\(arguments)")
      }
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("out.html")))
  }

  @Test("RPL-4 stats and report skip the change logs of a folder, and say so")
  func leftOut() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    let both = try TemporaryFolder()
    _ = try both.write(try folder.bytes("a.journal"), to: "a.journal")
    _ = try both.write(try folder.bytes("changes-compacted.log"), to: "changes.journal")
    let alone = ToolRun.inProcess(["stats", both.file("a.journal")])
    let all = ToolRun.inProcess(["stats", both.path])
    #expect(all.code == 0 && all.output == alone.output)
    #expect(all.errors.contains("changes.journal is a change log and is left out"))
    let page = ToolRun.inProcess(["report", both.path, "-o", both.file("out.html")])
    #expect(page.code == 0 && page.output.contains("1 journal,"))
    #expect(page.errors.contains("changes.journal is a change log and is left out"))
  }

  @Test(
    "RPL-2 SYN-2 repair keeps the good batches of a change log, and the kept file is valid",
    arguments: ["changes-damaged.log", "changes-torn.log", "changes-odd.log"])
  func repaired(name: String) throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    let (path, out) = (folder.file(name), folder.file("fixed.log"))
    let run = ToolRun.inProcess(["repair", path, "-o", out])
    #expect(run.code == 0, "\(run.errors)")
    let whole = try folder.bytes(name)
    let kept = try folder.bytes("fixed.log")
    let dropped = try folder.bytes("fixed.log.dropped")
    #expect(kept + dropped == whole)
    let verdict = ToolRun.inProcess(["verify", out])
    #expect(verdict.code == 0, "\(verdict.output)")
    // The report names the state of the new file.
    let state = ToolRun.inProcess(["state", out]).output.split(separator: "\n")[0]
      .dropFirst("state".count).drop { $0 == " " }
    #expect(run.output.contains("  state     \(state), as of seq"), "\(run.output)")
    let again = ToolRun.inProcess(["repair", out, "--dry-run"])
    #expect(again.code == 3 && again.output.contains("nothing to repair"))
    // A repair in place has the same result.
    let inPlace = ToolRun.inProcess(["repair", path, "--in-place"])
    #expect(inPlace.code == 0, "\(inPlace.errors)")
    let isSame = try folder.bytes(name) == kept
    #expect(isSame)
  }

  @Test("RPL-4 JRN-3 records of a newer version in a change log are not reported as damage")
  func newer() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    for way in [["-o", folder.file("x")], ["--in-place"], ["--dry-run"]] {
      let before = try folder.bytes("changes-newer.log")
      let run = ToolRun.inProcess(["repair", folder.file("changes-newer.log")] + way)
      #expect(run.code == 65 && run.errors.contains("newer version"), "\(way)")
      let isSame = try folder.bytes("changes-newer.log") == before
      #expect(isSame)
    }
    let compacted = ToolRun.inProcess(["repair", folder.file("changes-compacted.log"), "--dry-run"])
    #expect(compacted.code == 3 && compacted.output.contains("is good"))
  }
}
