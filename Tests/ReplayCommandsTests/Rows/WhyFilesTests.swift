import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import Testing

@testable import ReplayCommands

@Suite("why with several files")
struct WhyFilesTests {
  private let folder: TemporaryFolder
  private let recorded = Repository.root.appending(path: "Specs/Journals")
    .path(percentEncoded: false)

  init() throws { folder = try TemporaryFolder() }

  @Test("RPL-3 a table counts the causes, the most frequent first, and the parts follow its order")
  func groups() throws {
    try SampleJournal.write(to: folder.file("a.journal"))
    try SampleJournal.write(to: folder.file("b.journal"))
    let reused = "\(recorded)/killed-in-refresh.journal"
    let run = ToolRun.inProcess(["why", folder.path, reused])
    #expect(run.code == 0)
    let lines = run.output.components(separatedBy: "\n")
    let table = lines.dropFirst().prefix { !$0.isEmpty }.map { $0.split(separator: " ") }
    let counts = table.map { Int($0[0]) ?? 0 }
    #expect(lines.first?.contains("Ends  Cause") == true)
    #expect(counts == counts.sorted(by: >) && counts.reduce(0, +) == 5)
    let parts = lines.filter {
      $0.hasPrefix("\(table[0][1]): ") || $0.hasPrefix("killed-in-refresh: ")
    }
    #expect(parts.count == 2)
    #expect(parts.last == "killed-in-refresh: 1 end, 1 likely")
    #expect(lines.count { $0.hasPrefix("Fix: ") } == table.count)
    #expect(run.output.hasSuffix("5 ends in 3 journals.\n"))
  }

  @Test("RPL-3 a part lists five ends and counts the rest; --all lists each")
  func limited() throws {
    let bytes = try Data(contentsOf: URL(filePath: "\(recorded)/killed-in-refresh.journal"))
    for index in 0..<7 { _ = try folder.write(Array(bytes), to: "\(index).journal") }
    for (arguments, listed, rest) in [
      ([String](), 5, "  … 2 more; --all lists them"), (["--all"], 7, nil),
    ] {
      let run = ToolRun.inProcess(["why"] + arguments + [folder.path])
      let lines = run.output.components(separatedBy: "\n")
      #expect(lines.count { $0.contains(".journal @12  ") } == listed)
      #expect(lines.first { $0.hasPrefix("  …") } == rest)
      #expect(lines.contains("killed-in-refresh: 7 ends, 7 likely"))
    }
  }

  @Test("RPL-5 on a terminal the table and the parts break between words")
  func width() {
    let run = ToolRun.inProcess(
      ["why", recorded, "--color", "never"], environment: ["COLUMNS": "100"], isTerminal: true)
    let lines = run.output.components(separatedBy: "\n")
    // A path is not broken.
    #expect(lines.filter { $0.count > 100 && !$0.contains(".journal") }.isEmpty)
    #expect(lines.count { $0.hasPrefix("Fix: ") } > 20)
  }

  @Test("RPL-3 with JSON each end is an object with the file, the journal, the user and the app")
  func json() throws {
    let run = ToolRun.inProcess(["why", "--json", recorded])
    let ends = try run.objects()
    let rows = try ToolRun.inProcess(["ends", recorded]).objects()
      .filter { !($0["sequence"] is NSNull) }
    #expect(ends.count == rows.count)
    for (end, row) in zip(ends, rows) {
      for key in ["file", "journal", "user", "app", "cause", "certainty", "sequence"] {
        #expect("\(end[key] ?? "")" == "\(row[key] ?? "")", "\(key)")
      }
    }
  }

  @Test("RPL-3 --oneline prints a line for each end in the order of the files")
  func lines() throws {
    let run = ToolRun.inProcess(["why", "--oneline", recorded])
    let lines = run.output.split(separator: "\n").dropLast()
    let rows = try ToolRun.inProcess(["ends", recorded]).objects()
      .filter { !($0["sequence"] is NSNull) }
    #expect(lines.count == rows.count)
    for (line, row) in zip(lines, rows) {
      #expect(line.hasPrefix("\(row["file"] ?? "") @\(row["sequence"] ?? "")  "))
      #expect(line.contains("[\(row["cause"] ?? ""), \(row["certainty"] ?? "")]"))
    }
  }

  @Test("RPL-3 RPL-5 if nothing ended the exit code is 3; --at needs one file")
  func nothing() throws {
    let open = "\(recorded)/still-signed-in.journal"
    let other = "\(recorded)/still-offline.journal"
    let none = folder.file("none.journal")
    try SampleJournal.write(to: none, batches: [(0, [.note(.closed)])])
    let run = ToolRun.inProcess(["why", open, other, none])
    #expect(run.code == 3)
    #expect(
      run.output
        == "Nothing ended in 3 journals: 1 × still-offline, 1 × still-signed-in, 1 × signed out.\n")
    #expect(ToolRun.inProcess(["why", "--at", "@1", open, other]).code == 64)
  }
}
