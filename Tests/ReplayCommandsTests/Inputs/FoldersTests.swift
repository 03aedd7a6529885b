import ChildProcesses
import Foundation
import Testing

@testable import ReplayCommands

@Suite("folders in place of files")
struct FoldersTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func make(_ names: String...) throws {
    for name in names {
      try FileManager.default.createDirectory(
        atPath: folder.file(name), withIntermediateDirectories: true)
    }
  }

  private func files(_ arguments: String...) throws -> [String] {
    try ToolRun.inProcess(["verify", "--json"] + arguments).objects()
      .compactMap { $0["file"] as? String }
      .map { $0.replacing(folder.path + "/", with: "") }
  }

  @Test("RPL-7 a folder is read at any depth: journals, exports, compressed and quarantined ones")
  func names() throws {
    try make("all/b", "all/a/deep", "all/x.journal")
    try SampleJournal.write(to: folder.file("one.journal"))
    let good = try folder.bytes("one.journal")
    let taken = [
      "all/a/deep/z.journal", "all/a/s.journal.aside-1-damaged-20261121T140000Z", "all/b/s.journal",
      "all/s.jsonl", "all/x.journal/in.journal",
    ]
    let ignored = [
      "all/s.journal.lock", "all/s.journal.alive", "all/s.journal.new", "all/s.journal.torn-7-1",
      "all/s.journal.partial-77", "all/notes.txt", "all/s.journal.aside-x", "all/journal",
    ]
    for name in taken + ignored { _ = try folder.write(good, to: name) }
    #expect(try files(folder.file("all")) == taken)
    #expect(try files(folder.file("all/")) == taken)
  }

  @Test("RPL-7 links to folders are not followed, links to files are")
  func links() throws {
    try make("all/sub")
    try SampleJournal.write(to: folder.file("one.journal"))
    let link = { (name: String, target: String) in
      try FileManager.default.createSymbolicLink(
        atPath: self.folder.file(name), withDestinationPath: target)
    }
    try link("all/sub/loop", "..")
    try link("all/loop.journal", ".")
    try link("all/file.journal", folder.file("one.journal"))
    #expect(try files(folder.file("all")) == ["all/file.journal"])
    try link("all/gone.journal", "nowhere")
    let run = ToolRun.inProcess(["stats", "--json", folder.file("all")])
    #expect(run.code == 66)
  }

  @Test("RPL-5 an empty folder has its own sentence; the exit code is 66 only if nothing was found")
  func empty() throws {
    try make("none", "other/deep", "some")
    try SampleJournal.write(to: folder.file("some/a.journal"))
    let commands = [
      ["stats"], ["ends"], ["refreshes"], ["verify"], ["why"], ["report", "-o", "-"],
    ]
    for command in commands {
      let run = ToolRun.inProcess(command + [folder.file("none")])
      #expect(run.code == 66, "\(command)")
      #expect(run.errors.hasPrefix("Error: \(folder.file("none")) holds no journal.\n"))
      let two = ToolRun.inProcess(command + [folder.file("none"), folder.file("other")])
      #expect(two.code == 66)
      let both = ToolRun.inProcess(command + [folder.file("none"), folder.file("some")])
      #expect(both.code == 0, "\(command) \(both.errors)")
      #expect(both.errors == "Note: \(folder.file("none")) holds no journal.\n", "\(command)")
    }
  }

  @Test("RPL-5 a folder that cannot be listed is named, and the others are read")
  func unreadable() throws {
    guard geteuid() != 0 else { return }
    try make("all/closed")
    try SampleJournal.write(to: folder.file("all/a.journal"))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0], ofItemAtPath: folder.file("all/closed"))
    for command in ["ends", "stats", "verify"] {
      let run = ToolRun.inProcess([command, folder.file("all")])
      #expect(run.code == 74)
      #expect((run.errors + run.output).contains("all/closed"), "\(run.errors)")
      #expect(!run.output.isEmpty)
    }
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o700], ofItemAtPath: folder.file("all/closed"))
  }

  @Test("RPL-2 verify of many files prints what is not good, and counts all")
  func verify() throws {
    try Journals.write(into: folder)
    let run = ToolRun.inProcess(["verify", folder.path])
    let last = try #require(run.output.split(separator: "\n").last)
    #expect(last == "10 journals: 4 good, 2 with an unfinished tail, 4 damaged", "\(run.output)")
    #expect(!run.output.contains("a.journal is"))
    #expect(run.output.contains("damaged.journal is not good"))
    let alone = ToolRun.inProcess(["verify", folder.file("a.journal")])
    #expect(alone.output.contains("a.journal is good"))
  }
}
