import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionExplain
import SessionJournal
import SessionTestKit
import Testing

@testable import ReplayCommands

@Suite("Specs/ReplayTool.md")
struct SpecificationTests {
  /// Every page that has errors of the tool.
  private static let pages = ["ReplayTool", "ReplayFiles"]

  private func rows(under heading: String, of page: String = "ReplayTool") throws -> [[String]] {
    let lines = try Repository.text("Specs/\(page).md").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: "## \(heading)"))
    return lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }.filter { $0.hasPrefix("| ") }
      .dropFirst(2).map { row in
        row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      }
  }

  @Test("RPL-5 the page and the code have the same exit codes")
  func exitCodes() throws {
    let found = try rows(under: "Exit codes").map { "\($0[0]) \($0[1])" }
    #expect(found == ExitCode.allCases.map { "\($0.rawValue) \($0)" })
    let help = ToolRun.inProcess(["--help"]).output.components(separatedBy: "Exit codes:\n")
    let told = help.last?.split(separator: "\n").map { line in
      line.split(separator: " ", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
    }
    #expect(told == (try rows(under: "Exit codes").map { [$0[0], $0[2]] }))
  }

  @Test("RPL-5 each form of a selector on the page is understood, and the help has the same forms")
  func selectors() throws {
    let help = ToolRun.inProcess(["help", "selectors"]).output
    for row in try rows(under: "Selectors") {
      let forms = row[0].split(separator: "`").map(String.init).filter {
        $0.contains { $0.isLetter || $0.isNumber }
      }
      #expect(!forms.isEmpty)
      for form in forms {
        #expect(Selector(form) != nil, "\(form)")
        #expect(help.contains(form), "\(form)")
      }
    }
  }

  @Test("RPL-5 every help fits into 80 columns")
  func widths() {
    let names = CommandList.order + HelpText.Topic.allCases.map(\.rawValue)
    for arguments in [["--help"]] + names.map({ ["help", $0] }) {
      for line in ToolRun.inProcess(arguments).output.split(separator: "\n") {
        #expect(line.count <= 80, "\(arguments): \(line)")
      }
    }
    let uses = CommandList.order.filter {
      ToolRun.inProcess([$0, "--help"]).output.contains("help selectors")
    }
    #expect(uses.contains("timeline") && uses.contains("why") && !uses.contains("repair"))
  }

  @Test("RPL-5 every error that the page names happens, with its code")
  func errors() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    let provoked = try ProvokedErrors.all(in: folder)
    let elsewhere = ProvokedErrors.elsewhere
    let rows = try Self.pages.flatMap { try self.rows(under: "Errors", of: $0) }
    #expect(Set(rows.map { $0[0] }) == elsewhere.union(provoked.keys))
    // A user does not see the error after Ctrl-C, and `unexpected` is not stable.
    let unnamed: Set = ["interrupted", "unexpected"]
    #expect(unnamed.union(rows.map { $0[0] }) == Set(ToolError.Name.allCases.map(\.rawValue)))
    for row in rows {
      guard let arguments = provoked[row[0]] else { continue }
      let syntax = CommandList.all.first { $0.syntax.name == arguments.first }?.syntax
      // A command without JSON has errors for people alone.
      let hasJSON = syntax?.options.contains { $0.name == "json" } ?? !arguments.isEmpty
      let run = ToolRun.inProcess(
        arguments.prefix(1) + (hasJSON ? ["--json"] : []) + arguments.dropFirst())
      #expect("\(run.code)" == row[1], "\(row[0])")
      if hasJSON {
        let error = try run.error()
        #expect(error["name"] as? String == row[0])
        #expect(error["code"] as? Int32 == run.code)
      }
      guard !arguments.isEmpty else { continue }
      let text = ToolRun.inProcess(arguments)
      #expect(text.code == run.code)
      #expect(text.errors.hasPrefix(run.code == 2 ? "Note: " : "Error: "))
      #expect(text.errors.contains(run.code == 2 ? "\nNext: " : "\nTry: "), "\(row[0])")
    }
  }

  @Test("JRN-5 the JSON of a timeline is the readable form of the golden events")
  func readableForm() throws {
    let folder = try TemporaryFolder()
    let lines = try Repository.text("Specs/Golden/events.txt").components(separatedBy: "\n").filter
    { !$0.isEmpty && !$0.hasPrefix("#") }.map { $0.components(separatedBy: " | ") }
      // Only a compacted journal has a snapshot.
      .filter { $0[0] != "7F" }
    let drafts = try lines.map { line in
      JournalDraft(kind: try #require(UInt8(line[0], radix: 16)), payload: bytes(line[1]))
    }
    try SampleJournal.write(to: folder.file("golden.journal"), drafts: drafts.map { [$0] })
    let run = ToolRun.inProcess(["timeline", "--json", folder.file("golden.journal")])
    #expect(run.code == 0)
    let found = run.output.split(separator: "\n")
    try #require(found.count == lines.count)
    for (line, found) in zip(lines, found) {
      let readable = line[2...].joined(separator: " | ")
      #expect(found.hasPrefix("{\"v\":1,\"sequence\":"))
      #expect(found.hasSuffix("," + readable.dropFirst()), "\(line[0])")
    }
  }

  @Test("records at the limits of time are shown, and times select among them")
  func endsOfTime() throws {
    let folder = try TemporaryFolder()
    let times: [Int64] = [0, .max, -1, .min, .min, .max - 1, 5]
    for count in 1...times.count {
      let path = folder.file("\(count).journal")
      try SampleJournal.write(
        to: path,
        drafts: times.prefix(count).map { time in
          let sent = SessionNote.RequestSent(
            kind: .refresh, generation: .none, trigger: .manual, attempt: .max, process: .max,
            deadline: Timestamp(milliseconds: ~time))
          let (kind, payload) = SessionCodec.encode(
            .note(.requestSent(sent)), at: Timestamp(milliseconds: time))
          return [JournalDraft(kind: kind, payload: payload)]
        })
      for options in [[], ["--local"], ["--json"]] {
        for at in ["@-1", "14:00", "-3h", "-0ms", "-106751991167d", "2026-01-01T00:00:00Z"] {
          let state = ToolRun.inProcess(["state", path, "--at", at] + options)
          let isEarly = state.errors.contains("no record at that time or before")
          #expect(state.code == (isEarly && at != "@-1" ? 64 : 0))
          let run = ToolRun.inProcess(["timeline", path, "--until", at] + options)
          #expect(run.code == 0)
          #expect(run.output.split(separator: "\n").count <= count)
        }
      }
      #expect(ToolRun.inProcess(["verify", path, "--local"]).code == 0)
    }
  }

  private func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map {
      UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
  }
}

/// What README.md and the article show of the tool.
@Suite("README and the article about sessionreplay")
struct ReadmeTests {
  @Test("RPL-3 the answer in README is the recorded one")
  func answer() throws {
    let recorded = try Repository.text("Specs/Journals/lost-reply.txt").components(
      separatedBy: "--- exit 0\n")[0].replacing(
        "why lost-reply", with: "why Specs/Journals/lost-reply")
    #expect(try Repository.text("README.md").contains("```\n\(recorded)```\n"))
  }

  @Test("RPL-1 the article shows every command of the tool, and no other")
  func commands() throws {
    let shown = try Repository.text(
      "Sources/SessionKit/SessionKit.docc/DebuggingWithSessionreplay.md"
    ).matches(of: #/(?m)^sessionreplay ([a-z-]+) /#).map { String($0.1) }
    let help = ToolRun.inProcess(["--help"]).output
    let had = try #require(help.components(separatedBy: "Commands:\n").last).components(
      separatedBy: "\n\n")[0].matches(of: #/(?m)^  ([a-z-]+) /#).map { String($0.1) }
    #expect(had.count > 10)
    #expect(Set(shown) == Set(had))
  }
}

/// Readers of earlier versions, as git keeps them, before today's golden files.
@Suite("Readers of earlier versions")
struct OlderReaderTests {
  /// The last version whose records did not name their opening.
  private static let commit = "40603ea"

  private static func git(_ arguments: [String]) throws -> ChildProcess.Run {
    try ChildProcess.run("git", arguments, folder: Repository.root.path, errors: .collected)
  }

  /// Whether git has the version: a copy without history does not.
  private static let isKept: Bool = {
    do { return try git(["cat-file", "-e", "\(commit):Specs/event_payload.py"]).code == 0 } catch {
      return false
    }
  }()

  @Test(
    "REF-9 JRN-3 a reader from before process identities reads every field that it knows",
    .enabled(if: isKept, "git does not have the version of that reader here."))
  func events() throws {
    let source = try Self.git(["show", "\(Self.commit):Specs/event_payload.py"])
    #expect(source.code == 0)
    let folder = FileManager.default.temporaryDirectory.appending(path: "reader-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer {
      // The system removes what a test leaves in its temporary folder.
      do { try FileManager.default.removeItem(at: folder) } catch {}
    }
    try source.bytes.write(to: folder.appending(path: "event_payload.py"))
    let program = """
      import json, sys
      sys.path.insert(0, sys.argv[1])
      import event_payload
      added = ("identity", "meaning", "platform", "policy")
      def known(value):
          if isinstance(value, dict):
              return {key: known(part) for key, part in value.items()
                      if key not in added}
          return value
      count = 0
      for line in open(sys.argv[2], encoding="utf-8"):
          if line.startswith("#") or not line.strip():
              continue
          kind, payload, readable = line.rstrip("\\n").split(" | ", 2)
          found = event_payload.decode(int(kind, 16), bytes.fromhex(payload))
          if any(f'"{name}"' in readable for name in added):
              count += 1
              assert found == known(json.loads(readable)), line
      print(count)
      """
    let golden = Repository.root.appending(path: "Specs/Golden/events.txt").path
    let reader = try ChildProcess.run(
      "python3", ["-B", "-c", program, folder.path, golden], errors: .collected)
    #expect(reader.code == 0 && reader.text == "7\n", "\(reader.text)")
  }
}

/// The page about a fleet, compared with the queries that `Tools/fleet/run` answers and checks.
@Suite("Specs/Fleet.md")
struct FleetPageTests {
  private let root = Repository.root

  @Test("SCL-3 the page lists each query, and the script checks the answer to each")
  func queries() throws {
    let folder = root.appending(path: "Tools/fleet/queries").path(percentEncoded: false)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    #expect(files.count == 5)
    let page = try Repository.text("Specs/Fleet.md").split(separator: "\n")
    let listed = page.compactMap { $0.firstMatch(of: #/^\| .* \| `(\d-.*\.sql)` \|$/#)?.1 }
    #expect(listed.map(String.init) == files)
    let checked = try Repository.text("Tools/fleet/truth.py").matches(
      of: #/\("(\d-[a-z0-9-]+)", \w+, /#
    ).map { "\($0.1).sql" }
    #expect(checked == files)
  }

  @Test("SCL-3 a query leaves out damaged journals, and its first line is a question")
  func forms() throws {
    let folder = root.appending(path: "Tools/fleet/queries").path(percentEncoded: false)
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let text = try Repository.text("Tools/fleet/queries/\(file)")
      #expect(text.contains("NOT damaged"), "\(file)")
      #expect(text.prefix { $0 != "\n" }.wholeMatch(of: /-- .*\?.*/) != nil, "\(file)")
    }
  }

  @Test("SCL-3 the query about unexpected ends leaves out the causes that a report calls expected")
  func unexpected() throws {
    let text = try Repository.text("Tools/fleet/queries/4-users-with-many-ends.sql")
    let list = try #require(text.firstMatch(of: /NOT IN \(([^)]*)\)/)?.1)
    let expected = EndClass.allCases.filter { !$0.isUnexpected }.flatMap(\.causes).map(\.id)
    #expect(list.matches(of: /'([a-z-]+)'/).map { String($0.1) } == expected.sorted())
  }

  @Test("SCL-3 CI answers the questions about a small fleet")
  func ci() throws { #expect(try Repository.text(".ci/nightly").contains("\nTools/fleet/run ")) }
}
