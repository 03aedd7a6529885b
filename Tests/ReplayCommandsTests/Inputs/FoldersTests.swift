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
      "all/s.journal.aside-2-repaired-20261121T140000Z",
      "all/s.journal.lock", "all/s.journal.alive", "all/s.journal.new", "all/s.journal.torn-7-1",
      "all/s.journal.partial-77", "all/notes.txt", "all/s.journal.aside-x", "all/journal",
    ]
    for name in taken + ignored { _ = try folder.write(good, to: name) }
    // A file with the same bytes is another file; one with two names is not.
    for name in taken { #expect(try files(folder.file(name), folder.file(name)) == [name]) }
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

  @Test(
    "RPL-5 a command about one journal takes a session's directory in place of its journal",
    arguments: [
      ["timeline"], ["state"], ["diff"], ["export"], ["whatif", "--policy", "standard"],
      ["repair", "--dry-run"], ["follow", "--timeout", "0s"], ["why"], ["why", "--at", "@2"],
      ["verify"], ["verify", "--json"],
    ])
  func sessionDirectory(command: [String]) throws {
    try make("session/secrets")
    let journal = folder.file("session/session.journal")
    try SampleJournal.write(to: journal)
    let expected = ToolRun.inProcess(command + [journal])
    #expect(![65, 66].contains(expected.code), "\(expected.errors)")
    for directory in ["session", "session/"] {
      let run = ToolRun.inProcess(command + [folder.file(directory)])
      #expect(run.output == expected.output)
      #expect(run.errors == expected.errors && run.code == expected.code)
    }
  }

  @Test("RPL-5 of a folder without session.journal, a command takes the only journal or none")
  func onlyJournal() throws {
    func run() -> (code: Int32, next: String?) {
      let run = ToolRun.inProcess(["timeline", folder.path])
      return (run.code, run.errors.components(separatedBy: "Try: ").last)
    }
    let refused = "name a journal file in it\n"
    #expect(run() == (65, refused))
    try SampleJournal.write(to: folder.file("other.journal"))
    #expect(run().code == 0)
    try SampleJournal.write(to: folder.file("another.journal"))
    #expect(run() == (65, refused))
    try SampleJournal.write(to: folder.file("session.journal"))
    #expect(run().code == 0)
    // A table of causes counts what is set aside, too; it is no answer about one journal.
    let why = ToolRun.inProcess(["why", "--at", "@2", folder.path])
    #expect(why.code == 64)
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

  @Test("RPL-7 a file with several names counts once, and files with the same journal are noted")
  func doubled() throws {
    try make("all")
    let path = folder.file("all/a.journal")
    try SampleJournal.write(to: path)
    let one = ToolRun.inProcess(["ends", path])
    let twice = ToolRun.inProcess(
      ["ends", path, folder.file("all"), "\(folder.path)/./all/a.journal"])
    #expect(twice.output == one.output)
    #expect(twice.errors == "Note: 2 names of files that were already named are left out.\n")
    _ = try folder.write(try folder.bytes("all/a.journal"), to: "all/b.journal")
    for command in [["ends"], ["stats"], ["why"]] {
      let run = ToolRun.inProcess(command + [folder.file("all")])
      #expect(run.code == 0)
      let (first, second) = (path, folder.file("all/b.journal"))
      #expect(
        run.errors == "Note: \(second) and \(first) have the same journal, and both count.\n")
    }
  }

  @Test("RPL-7 a journal and the copy that its repair left count once")
  func repaired() throws {
    try make("all")
    try Journals.write(into: folder)
    _ = try folder.write(try folder.bytes("damaged.journal"), to: "all/a.journal")
    #expect(ToolRun.inProcess(["repair", "--in-place", folder.file("all/a.journal")]).code == 0)
    let stats = try #require(
      try ToolRun.inProcess(["stats", "--json", folder.file("all")]).objects().first)
    #expect((stats["files"] as? [String: Any])?["read"] as? Int == 1)
  }

  @Test("RPL-7 lines of JSON that are no export are left out of a folder, and named if asked for")
  func foreign() throws {
    try make("all", "others")
    try SampleJournal.write(to: folder.file("all/a.journal"))
    let rows = ToolRun.inProcess(["ends", folder.file("all")]).output
    let export = ToolRun.inProcess(["export", folder.file("all/a.journal")]).output
    for name in ["all", "others"] {
      _ = try folder.write(Array(rows.utf8), to: "\(name)/ends.jsonl")
      _ = try folder.write([], to: "\(name)/empty.jsonl")
      _ = try folder.write(Array("text\n".utf8), to: "\(name)/text.jsonl")
    }
    for command in [["ends"], ["stats"], ["why"], ["report", "-o", "-"]] {
      let run = ToolRun.inProcess(command + ["--strict", folder.file("all")])
      #expect(run.code == 0, "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 3, "\(run.errors)")
      #expect(run.errors.contains("all/ends.jsonl is no export and is left out.\n"))
    }
    #expect(ToolRun.inProcess(["ends", folder.file("all")]).output == rows)
    let verify = ToolRun.inProcess(["verify", folder.file("all")])
    #expect(verify.code == 0 && verify.output == "1 journal: 1 good\n", "\(verify.output)")
    #expect(ToolRun.inProcess(["ends", folder.file("others")]).code == 66)
    // What begins like an export is one, also if its first line is cut.
    for (name, text) in [("cut", String(export.prefix(60))), ("mark", "\u{FEFF}" + export)] {
      _ = try folder.write(Array(text.utf8), to: "all/\(name).jsonl")
      let run = ToolRun.inProcess(["ends", "--strict", folder.file("all")])
      #expect(run.code == 65 && run.errors.contains("\(name).jsonl, line 1: "), "\(run.errors)")
      unlink(folder.file("all/\(name).jsonl"))
    }
    let named = ToolRun.inProcess(["ends", folder.file("all/ends.jsonl")])
    #expect(named.code == 65 && named.errors.contains("not the header that an export begins with"))
  }

  @Test("RPL-5 a link without a file at its end is named as such")
  func deadLink() throws {
    try make("all")
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("all/gone.journal"), withDestinationPath: "nowhere")
    let run = ToolRun.inProcess(["verify", folder.file("all")])
    #expect(run.code == 66)
    #expect(run.errors.contains("gone.journal is a link, and there is no file at its end."))
    #expect(!run.errors.contains("Try: \(folder.path)"))
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
