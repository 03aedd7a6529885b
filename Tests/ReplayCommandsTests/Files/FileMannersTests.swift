import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import Testing

@testable import ReplayCommands

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// `export`, `import` and `repair` with signals, unusual names and full disks.
@Suite("Commands that make files, run as programs")
struct FileMannersTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Journals.write(into: folder)
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  @Test("RPL-2 repair refuses to write dropped bytes to the output, however its path is spelled")
  func onePlace() throws {
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link"), withDestinationPath: folder.path)
    _ = try folder.write([7], to: "out")
    let before = try names()
    for other in ["out", "./out", "link/out", "link/./link/out", "OUT"] {
      let run = ToolRun.inProcess([
        "repair", folder.file("damaged.journal"), "-o", folder.file("out"), "--dropped",
        folder.file(other), "--force", "--json",
      ])
      #expect(try run.error()["name"] as? String == "conflict", "\(other)")
      #expect(run.code == 64)
    }
    #expect(try folder.bytes("out") == [7])
    #expect(try names() == before)
    for other in ["-", ""] {
      let run = ToolRun.inProcess([
        "repair", folder.file("damaged.journal"), "-o", folder.file("new"), "--dropped", other,
        "--json",
      ])
      #expect(try run.error()["name"] as? String == "noOutput", "\(other)")
    }
    #expect(try names() == before)
  }

  @Test("RPL-2 an output that is not overwritten can be withdrawn, and one that exists stays")
  func withdrawn() throws {
    let first = try OutputFile(folder.file("first"), overwrite: false)
    try first.finish()
    #expect(first.isNamed && first.withdraw())
    #expect(!FileManager.default.fileExists(atPath: folder.file("first")))
    _ = try folder.write([7], to: "second")
    let second = try OutputFile(folder.file("second"), overwrite: true)
    try second.finish()
    #expect(!second.withdraw())
    #expect(try folder.bytes("second") == [])
    // A file that another process creates meanwhile stays, and the error describes it correctly.
    let third = try OutputFile(folder.file("third"), overwrite: false)
    _ = try folder.write([8], to: "third")
    do {
      try third.finish()
      Issue.record("it took the name")
    } catch {
      #expect(error.name == .exists)
      #expect(error.consequence == "What was written for it was removed again.")
    }
  }

  @Test(
    "RPL-2 another user's journal is refused before a lock file is created",
    .enabled(if: getuid() == 0))
  func otherOwner() throws {
    let path = folder.file("damaged.journal")
    #expect(chown(path, 65_534, 65_534) == 0)
    let before = try names()
    let run = ToolRun.inProcess(["repair", path, "--in-place"])
    #expect(run.code == 73)
    #expect(run.errors.contains("another user"))
    #expect(try names() == before)
  }

  @Test("RPL-2 a hard link is refused before a lock file is created")
  func hardLink() throws {
    let path = folder.file("damaged.journal")
    try FileManager.default.linkItem(atPath: path, toPath: folder.file("hard"))
    let before = try names()
    #expect(ToolRun.inProcess(["repair", path, "--in-place"]).code == 73)
    #expect(try names() == before)
  }

  @Test(
    "RPL-2 an app that has read dropped bytes cannot write until it opens the journal again"
  )
  func liveApp() throws {
    let path = folder.file("live.journal")
    try SampleJournal.write(to: path)
    let app = try Journal.open(at: path)
    var bytes = try folder.bytes("live.journal")
    let frames = try Journals.frames(bytes)
    bytes[frames[9].end - 1] ^= 1
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.write(contentsOf: bytes)
    try file.close()
    let run = ToolRun.inProcess(["repair", path, "--in-place"])
    #expect(run.code == 0, "\(run.errors)")
    #expect(run.output.contains("start it again"))
    let repaired = try folder.bytes("live.journal")
    let closed = SessionCodec.encode(.note(.closed), at: SampleJournal.start)
    let draft = JournalDraft(kind: closed.kind, payload: closed.payload)
    var flaw: JournalFlaw?
    do {
      _ = try app.append([draft])
    } catch {
      if case .damaged(_, let damage) = error { flaw = damage.flaw }
    }
    #expect(flaw == .historyChanged)
    let isSame = try folder.bytes("live.journal") == repaired
    #expect(isSame)
    let again = try Journal.open(at: path)
    _ = try again.append([draft])
    try again.close()
    #expect(ToolRun.inProcess(["verify", path]).code == 0)
  }

  @Test(
    "RPL-5 the first Ctrl-C ends a command that waits for a pipe, and no file is left",
    arguments: ["import - -o OUT", "repair - -o OUT", "verify -"])
  func interrupted(_ line: String) throws {
    let before = try names()
    // The writer reports when the tool has opened its input, and keeps the pipe open.
    let script = """
      import os, signal, subprocess, sys, time
      reading, writing = os.pipe()
      tool = subprocess.Popen(sys.argv[1:], stdin=reading, stderr=subprocess.DEVNULL)
      os.close(reading)
      os.write(writing, b"x" * 300000)
      tool.send_signal(signal.SIGINT)
      code = tool.wait(30)
      sys.exit(7 if code == -signal.SIGINT else 1)
      """
    let arguments = line.split(separator: " ").map { $0 == "OUT" ? folder.file("out") : String($0) }
    let run = try ToolRun.run(
      "/usr/bin/env", ["python3", "-c", script, try ToolRun.binary()] + arguments)
    #expect(run.code == 7, "\(run.errors)")
    #expect(try names() == before)
  }

  @Test("RPL-5 a limit on file sizes results in a system error, and no file is left")
  func sizeLimit() throws {
    let before = try names()
    let lines = ToolRun.inProcess(["export", folder.file("a.journal")]).output
    #expect(lines.utf8.count > 2_048)
    for line in ["export \"$1\" -o \"$2\"", "repair \"$3\" -o \"$2\" --json"] {
      let run = try ToolRun.shell(
        "ulimit -f 1; exec \"$0\" \(line)",
        [folder.file("a.journal"), folder.file("out"), folder.file("damaged.journal")])
      #expect(run.code == 74, "\(run.errors)")
    }
    #expect(try names() == before)
  }

  @Test("RPL-4 a folder that cannot be opened is refused before any file is written")
  func unlistedFolder() throws {
    let blind = folder.file("blind")
    try FileManager.default.createDirectory(
      atPath: blind, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o333])
    let program = folder.file("sessionreplay")
    try FileManager.default.copyItem(atPath: try ToolRun.binary(), toPath: program)
    for path in [program, folder.file("a.journal")] {
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }
    // Root ignores file modes.
    let line = """
      import os, sys
      if os.getuid() == 0:
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
      os.execv(sys.argv[1], sys.argv[1:])
      """
    let run = try ToolRun.run(
      "/usr/bin/env",
      ["python3", "-c", line, program, "export", folder.file("a.journal"), "-o", blind + "/out"])
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: blind)
    #expect(run.code == 73, "\(run.errors)")
    #expect(run.errors.contains("Nothing was written."))
    #expect(try FileManager.default.contentsOfDirectory(atPath: blind).isEmpty)
  }

  @Test("RPL-5 an argument that is not UTF-8 is refused before any file is written")
  func noText() throws {
    let before = try names()
    for options in ["--json", ""] {
      let run = try ToolRun.shell(
        "exec \"$0\" export \"$1\" -o \"$2/$(printf 'a\\377')\" \(options)",
        [folder.file("a.journal"), folder.path])
      #expect(run.code == 64)
      #expect(run.errors.contains("not UTF-8"))
    }
    #expect(try names() == before)
  }

  @Test("RPL-2 a finished repair is reported as an error text if its report cannot be written")
  func untold() throws {
    guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
    let run = try ToolRun.shell(
      "\"$0\" repair \"$1\" --in-place > /dev/full", [folder.file("damaged.journal")])
    #expect(run.code == 74)
    #expect(run.errors.contains("was repaired"))
    #expect(run.errors.contains("-repaired-"))
    // The pipe has no reader from the beginning.
    let script = """
      import os, subprocess, sys
      reading, writing = os.pipe()
      os.close(reading)
      sys.exit(subprocess.call(sys.argv[1:], stdout=writing))
      """
    let closed = try ToolRun.run(
      "/usr/bin/env",
      [
        "python3", "-c", script, try ToolRun.binary(), "repair", folder.file("illegal.journal"),
        "--in-place",
      ])
    #expect(closed.code == 74)
    #expect(closed.errors.contains("was repaired") && closed.errors.contains("-repaired-"))
  }

  @Test("RPL-4 import refuses a pipe without a writer instead of waiting for it")
  func pipe() throws {
    #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
    let run = ToolRun.inProcess(["import", folder.file("pipe"), "--dry-run", "--json"])
    #expect(run.code == 65)
    #expect(try run.error()["name"] as? String == "notARegularFile")
  }
}
