import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Testing

@testable import ReplayCommands

/// `verify`, `repair`, `export` and `import` must judge a crafted file alike.
@Suite("RPL-11 verify, repair, export and import agree")
struct AgreementTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.journal") }

  init() throws {
    folder = try TemporaryFolder()
  }

  private func remove(_ names: String...) {
    for name in names { unlink(folder.file(name)) }
  }

  private static func verdict(_ path: String) throws -> (code: Int32, word: String) {
    let run = ToolRun.inProcess(["verify", path, "--json"])
    let word = try run.objects().first?["verdict"] as? String
    return (run.code, try word ?? run.error()["name"] as? String ?? "")
  }

  /// How the four answers about a file differ; `nil` if they agree.
  private func disagreement(_ bytes: [UInt8]) throws -> String? {
    _ = try folder.write(bytes, to: "a.journal")
    remove("out", "out.dropped", "made", "lines")
    let (code, word) = try Self.verdict(path)
    let isReadable = (try? JournalReader(bytes: bytes)) != nil
    guard isReadable else { return code == 65 ? nil : "verify: \(code)" }
    let repair = ToolRun.inProcess(["repair", path, "-o", folder.file("out"), "--json"])
    switch (word, repair.code) {
    case ("good", 3): break
    case ("good", _): return "good, and repair says \(repair.code): \(repair.errors)"
    case ("unknownKind", 65): break
    case (_, 0):
      let (again, verdict) = try Self.verdict(folder.file("out"))
      guard again == 0 else { return "repaired, and verify says \(verdict)" }
      if try JournalFile(path: path, name: path).otherLog() == nil,
        ToolRun.inProcess(["export", folder.file("out"), "--reveal"]).code != 0
      {
        return "repaired, and export refuses it"
      }
    case (_, 65) where repair.errors.contains("nothing good is left"): break
    default: return "\(word), and repair says \(repair.code): \(repair.errors)"
    }
    guard try JournalFile(path: path, name: path).otherLog() == nil else { return nil }
    return try exportDisagreement(code, word)
  }

  private func exportDisagreement(_ code: Int32, _ word: String) throws -> String? {
    let export = ToolRun.inProcess(["export", path, "--reveal", "-o", folder.file("lines")])
    guard export.code == code else { return "\(word), and export says \(export.code)" }
    let lines = try folder.bytes("lines")
    guard lines.count < 1 << 20 else { return "export wrote \(lines.count) bytes" }
    let made = ToolRun.inProcess(
      ["import", folder.file("lines"), "-o", folder.file("made"), "--json"])
    let text = String(decoding: lines, as: UTF8.self)
    if text.contains("\"partial\":true") {
      return made.code == 65 ? nil : "a part was imported"
    }
    guard made.code == 0 else { return "exported, and import says \(made.errors)" }
    let (again, verdict) = try Self.verdict(folder.file("made"))
    guard again == 0 else { return "imported, and verify says \(verdict)" }
    let back = ToolRun.inProcess(["export", folder.file("made"), "--reveal"]).output
    let cut = { (text: String) in text.split(separator: "\n").dropLast() }
    return cut(back) == cut(text) ? nil : "the lines of the import are others"
  }

  @Test("RPL-11 the four commands agree on each crafted file")
  func crafted() throws {
    for (name, bytes) in try CraftedJournals.all() {
      #expect(try disagreement(bytes) == nil, "\(name)")
    }
  }

  @Test("RPL-11 the four commands agree on the golden journals and on all kinds of damage")
  func kept() throws {
    let golden = Repository.root.appending(path: "Specs/Golden")
    for name in try FileManager.default.contentsOfDirectory(atPath: golden.path).sorted()
    where name.hasSuffix(".journal") {
      let bytes = Array(try Data(contentsOf: golden.appending(path: name)))
      #expect(try disagreement(bytes) == nil, "\(name)")
    }
    let samples = try TemporaryFolder()
    try Journals.write(into: samples)
    for name in try FileManager.default.contentsOfDirectory(atPath: samples.path).sorted() {
      #expect(try disagreement(try samples.bytes(name)) == nil, "\(name)")
    }
  }

  @Test("RPL-11 the four commands agree on files with a changed record and valid checksums")
  func resealed() throws {
    let samples = try TemporaryFolder()
    try Journals.write(into: samples)
    for name in ["a.journal", "compacted.journal", "changes.log", "changes-compacted.log"] {
      let bytes = try samples.bytes(name)
      for number in Sweep("resealed \(name)", takingOneOf: 8).places(of: 0..<120) {
        let mutated = try CraftedJournals.resealed(bytes, number)
        #expect(try disagreement(mutated) == nil, "\(name) \(number)")
      }
    }
  }

  @Test("RPL-11 no command fails unexpectedly, loops or prints without end on a crafted file")
  func allCommands() throws {
    let options: [String: [[String]]] = [
      "timeline": [[], ["-r"], ["-r", "-C", "1"], ["-n", "3"], ["--since", "-1h"], ["--json"]],
      "state": [[], ["--at", "@-1"], ["--at", "@9223372036854775807"]],
      "diff": [[], ["--from", "@1"]], "why": [[], ["--all"], ["--at", "@3"], ["--at", "@-1"]],
      "verify": [[], ["--json"]], "repair": [["--dry-run"]], "follow": [["--timeout", "0ms"]],
      "stats": [["--by", "cause"], ["--by", "day"]], "ends": [[], ["--redact"]],
      "refreshes": [[], ["--redact"]],
      "export": [
        [], ["--since", "@2"], ["--since", "@9223372036854775807"], ["--until", "@1"],
        ["--format", "trace"], ["--format", "mermaid"],
      ],
      "whatif": [["--policy", "attempts=2"], ["--policy", "offlineFirst", "--json"]],
      "replay-corpus": [[], ["--json"]],
      "import": [["--dry-run"]], "report": [["-o", "-"]], "step": [],
    ]
    #expect(Set(options.keys) == Set(CommandList.order))
    for (name, bytes) in try CraftedJournals.all() {
      _ = try folder.write(bytes, to: "a.journal")
      for command in CommandList.order {
        for more in options[command] ?? [] {
          let run = ToolRun.inProcess([command, path] + more)
          #expect(run.code != 1, "\(name): \(command) \(more): \(run.errors)")
          #expect(run.output.utf8.count < 1 << 20, "\(name): \(command) \(more)")
        }
      }
    }
  }
}
