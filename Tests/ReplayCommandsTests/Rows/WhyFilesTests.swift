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

  @Test("RPL-3 ends are grouped by cause, the most frequent first")
  func groups() throws {
    try SampleJournal.write(to: folder.file("a.journal"))
    try SampleJournal.write(to: folder.file("b.journal"))
    let reused = "\(recorded)/killed-in-refresh.journal"
    let run = ToolRun.inProcess(["why", folder.path, reused])
    #expect(run.code == 0)
    let headings = run.output.split(separator: "\n").filter { $0.contains(" × ") }
    let counts = headings.map { Int($0.prefix { $0 != " " }) ?? 0 }
    #expect(counts == counts.sorted(by: >))
    #expect(headings.last?.contains("1 × killed-in-refresh") == true)
    #expect(run.output.hasSuffix("5 ends in 3 journals.\n"))
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
