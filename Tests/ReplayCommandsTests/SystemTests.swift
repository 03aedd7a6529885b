import ChildProcesses
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The program among other programs: pipes, permissions, special files.
@Suite("sessionreplay, the program")
struct SystemTests {
  private let folder: TemporaryFolder
  private var journal: String { folder.file("a.journal") }

  init() throws {
    folder = try TemporaryFolder()
    try SampleJournal.write(to: folder.file("a.journal"))
  }

  @Test("RPL-5 each unusable file has its own error text and exit code")
  func oddFiles() throws {
    _ = try folder.write([], to: "empty")
    _ = try folder.write(Array("not a journal".utf8), to: "text")
    _ = try folder.write(Array("{\"not\": \"a journal\"}".utf8), to: "object")
    let directory = folder.file("folder")
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: false)
    let cases: [(path: String, code: Int32, sentence: String)] = [
      (directory, 65, "is a folder"),
      ("/dev/null", 65, "is a device"),
      (folder.file("empty"), 65, "is empty"),
      (folder.file("text"), 65, "is not a journal"),
      (folder.file("object"), 65, "It is neither a journal nor an export that can be read."),
      (folder.file("none"), 66, "There is no file at"),
      (folder.file("text/none"), 66, "There is no file at"),
      ("", 64, "No file was named"),
      (try sparse("zeros", from: []), 65, "is not a journal"),
      (try sparse("zeros", from: []), 65, "policy.recovery = .resume"),
    ]
    for command in ["timeline", "state", "verify"] {
      // `verify` accepts a folder and reads the files in it.
      for (path, code, sentence) in cases where command != "verify" || path != directory {
        let run = try ToolRun.program([command, path])
        #expect(run.code == code, "\(command) \(path)")
        #expect(run.output.isEmpty)
        #expect(run.errors.contains(sentence), "\(path): \(run.errors)")
        #expect(run.errors.split(separator: "\n").count >= 2)
      }
    }
  }

  @Test("verify treats three gigabytes of zeros after the journal as reserved room")
  func hole() throws {
    let journal = try folder.bytes("a.journal")
    let path = try sparse("hole", from: journal)
    let run = try ToolRun.program(["verify", path])
    #expect(run.code == 0)
    #expect(run.errors.isEmpty)
    let zeros = (3 << 30) - journal.count
    #expect(run.output.replacing(",", with: "").contains("\(zeros) bytes of zeros"))
  }

  /// A file of 3 GB that begins with `bytes` and has nothing else on the disk.
  private func sparse(_ name: String, from bytes: [UInt8]) throws -> String {
    let path = try folder.write(bytes, to: name)
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.truncate(atOffset: 3 << 30)
    try file.close()
    return path
  }

  @Test("STO-3 a file without read permission is refused as permissionDenied")
  func unreadable() throws {
    let path = try folder.write(try folder.bytes("a.journal"), to: "secret.journal")
    try FileManager.default.setAttributes([.posixPermissions: 0o000], ofItemAtPath: path)
    let run: ToolRun
    if getuid() == 0 {
      // Root ignores file modes. So the test runs a copy of the program as an unprivileged user.
      let program = folder.file("sessionreplay")
      try FileManager.default.copyItem(atPath: try ToolRun.binary(), toPath: program)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
      let line = """
        import os, sys
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
        os.execv(sys.argv[1], sys.argv[1:])
        """
      let good = try ToolRun.run(
        "/usr/bin/env", ["python3", "-c", line, program, "verify", readable()])
      #expect(good.code == 0, "the unprivileged run works at all: \(good.errors)")
      run = try ToolRun.run(
        "/usr/bin/env", ["python3", "-c", line, program, "verify", path, "--json"])
    } else {
      run = try ToolRun.program(["verify", path, "--json"])
    }
    #expect(run.code == 74)
    let error = try run.error()
    #expect(error["name"] as? String == "permissionDenied")
    #expect((error["message"] as? String)?.contains("has the mode 0000, and this process") == true)
  }

  private func readable() throws -> String {
    let path = try folder.write(try folder.bytes("a.journal"), to: "open.journal")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    return path
  }

  @Test("the argument - reads standard input from a file or a pipe, as often as needed")
  func standardInput() throws {
    let expected = ToolRun.inProcess(["timeline", journal, "-n", "3", "-r", "--since", "-1h"])
    #expect(expected.output.split(separator: "\n").count == 3)
    let arguments = "timeline - -n 3 -r --since -1h"
    for line in ["\"$0\" \(arguments) < \"$1\"", "cat \"$1\" | \"$0\" \(arguments)"] {
      let run = try ToolRun.shell(line, [journal])
      #expect(run.code == 0, "\(line): \(run.errors)")
      #expect(run.output == expected.output, "\(line)")
    }
    let torn = try ToolRun.shell("head -c 100 \"$1\" | \"$0\" verify -", [journal])
    #expect(torn.code == 2)
    #expect(torn.errors.hasPrefix("Note: standard input ends with"))
    let text = try ToolRun.shell("echo hello | \"$0\" verify -")
    #expect(text.code == 65)
    #expect(text.errors.contains("standard input is not a journal"))
    #expect(try ToolRun.shell("\"$0\" verify - < /dev/null").errors.contains("is empty"))
  }

  @Test("standard input that cannot be copied results in an input/output error")
  func noRoom() throws {
    let run = try ToolRun.shell(
      "cat \"$1\" | \"$0\" verify - --json", [journal],
      environment: ["TMPDIR": folder.file("none")])
    #expect(run.code == 74)
    #expect(try run.error()["name"] as? String == "inputOutput")
  }

  @Test("the program ends without an error if the reader closes the pipe early")
  func closedPipe() throws {
    let note = SampleJournal.batches[0].contents
    let path = folder.file("long.journal")
    // Far more than a pipe holds.
    try SampleJournal.write(
      to: path,
      batches: (0..<40).map { (Int64($0), Array(repeating: note, count: 100).flatMap { $0 }) })
    for options in ["", "--json", "-r"] {
      let run = try ToolRun.shell(
        "{ \"$0\" timeline \"$1\" \(options); echo \"code $?\" >&2; } | head -n 1", [path])
      #expect(run.errors == "code 0\n")
      #expect(run.output.split(separator: "\n").count == 1)
    }
    #expect(
      ToolRun.inProcess(["timeline", path, "-r"]).output.split(separator: "\n").count == 4000)
  }

  @Test(
    "an answer that cannot be written results in an error",
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func fullDisk() throws {
    let run = try ToolRun.shell("\"$0\" timeline --json \"$1\" > /dev/full", [journal])
    #expect(run.code == 74)
    #expect(try run.error()["name"] as? String == "output")
  }

  @Test("--local shows and reads times in the zone of this computer")
  func localTimes() throws {
    let zone = ["TZ": "PET5"]
    let state = try ToolRun.program(
      ["state", journal, "--local", "--at", "10:00:00.300"], environment: zone)
    #expect(state.output.contains("as of 2026-11-22 10:00:00.300-05:00 (seq 24)"))
    let timeline = try ToolRun.program(
      ["timeline", journal, "--local", "--since", "@16", "-n", "99"],
      environment: ["TZ": "<+0530>-5:30"])
    #expect(timeline.output.contains("2026-11-21 20:31:40.000+05:30  login"))
    let json = try ToolRun.program(["timeline", journal, "--local", "--json"], environment: zone)
    #expect(json.output == ToolRun.inProcess(["timeline", journal, "--json"]).output)
  }

  @Test("reading changes no byte of the journal and leaves no file next to it")
  func readsOnly() throws {
    let before = try folder.bytes("a.journal")
    let beside = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    for command in ["timeline", "state", "verify"] {
      #expect(try ToolRun.program([command, journal]).code == 0)
    }
    #expect(try folder.bytes("a.journal") == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == beside)
  }
}
