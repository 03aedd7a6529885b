import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@testable import ReplayCommands

/// `--redact` of every command, and the key of the pseudonyms.
@Suite("RPL-9 redaction")
struct RedactionTests {
  private let folder: TemporaryFolder
  private var journal: String { folder.file("a.journal") }

  init() throws {
    folder = try TemporaryFolder()
    try Journals.write(into: folder)
  }

  /// The commands that take `--redact`, and `export`, which has pseudonyms without it.
  private static let names = CommandList.all.map { $0.syntax }
    .filter { $0.options.contains { $0.name == "redact" } }.map(\.name)

  /// Options with which each command says as much as it can.
  private static let options: [String: [[String]]] = [
    "timeline": [[], ["-r", "-C", "2", "--kind", "login"]],
    "state": [[], ["--at", "@3"]],
    "diff": [["--from", "@0", "--all-fields"], []],
    "verify": [[]],
    "follow": [["-n", "20000", "--timeout", "0ms"]],
    "why": [["--all", "--full"], ["--at", "@-1"]],
  ]

  @Test("RPL-9 no redacted output of a drawn journal contains a name or an identifier")
  func drawn() throws {
    // `step` needs a terminal; the test after this one looks at its screens.
    let commands = Self.names.filter { $0 != "step" }
    #expect(Set(commands).isSuperset(of: Self.options.keys))
    let folder = try TemporaryFolder()
    expect(
      Property(
        "redacted outputs have no names",
        cases: Sweep("redacted outputs", takingOneOf: 3).cases(of: 24)
      ).check { choices in
        let history = History.any(upTo: 24)(choices)
        choices.step(history.description)
        let path = try folder.write(
          DrawnJournal(choices, history, compactedIn: folder).bytes, to: "drawn.journal")
        for command in commands {
          for options in Self.options[command] ?? [[]] {
            for format in [[], ["--json"]] {
              let arguments = [command, path, "--redact"] + options + format
              let run = ToolRun.inProcess(arguments)
              guard run.code != 1,
                run.code != 64 || command == "why" || command == "state" || command == "diff"
              else {
                throw Falsified("\(arguments): \(run.errors)")
              }
              let text = (run.output + run.errors).replacing(path, with: "FILE")
              let leaks = try Leak.search(text, source: path, isLines: false)
              guard leaks.isEmpty else { throw Falsified("\(arguments): \(leaks.prefix(3))") }
            }
          }
        }
      })
  }

  @Test("RPL-9 a user has the same pseudonym in every output under one key")
  func samePseudonyms() throws {
    let pattern = try Regex("user-[0-9a-z]{10}")
    func users(_ arguments: [String], _ environment: [String: String] = [:]) -> Set<String> {
      let run = ToolRun.inProcess(arguments, environment: environment)
      return Set(run.output.matches(of: pattern).map { String(run.output[$0.range]) })
    }
    let key = folder.file("key")
    let wanted = users(["export", journal, "--key-file", key])
    #expect(!wanted.isEmpty)
    for command in ["timeline", "diff", "follow", "why"] {
      let more = (Self.options[command] ?? [])[0]
      let found = users([command, journal, "--redact", "--key-file", key] + more)
      #expect(!found.isEmpty && found.isSubset(of: wanted), "\(command): \(found) \(wanted)")
    }
    // The option wins over the file of the environment, and that over the key itself.
    let (other, short) = ("another key of some bytes", ["SESSIONREPLAY_KEY": "short"])
    let timeline = ["timeline", journal, "--redact"]
    #expect(users(timeline, ["SESSIONREPLAY_KEY": "sixteen-bytes-or-more"]) == wanted)
    #expect(users(timeline, ["SESSIONREPLAY_KEY": other]) != wanted)
    #expect(
      users(timeline, ["SESSIONREPLAY_KEY": other, "SESSIONREPLAY_KEY_FILE": key]) == wanted)
    #expect(users(timeline + ["--key-file", key], ["SESSIONREPLAY_KEY_FILE": "/none"]) == wanted)
    // What is not needed is not read.
    #expect(ToolRun.inProcess(["timeline", journal], environment: short).code == 0)
    #expect(ToolRun.inProcess(timeline, environment: short).code == 64)
    // Without a key each journal has its own pseudonyms, and several in one output have one key.
    let copy = folder.file("b.journal")
    try SampleJournal.write(to: copy)
    #expect(users(timeline) != wanted)
    let both = JournalFile.withOneKey(
      [journal, copy].map { path in
        JournalFile(
          path: path, name: path,
          redactor: Redactor(isRedacting: true, needsKey: true, chosen: nil))
      })
    #expect(both[0].redactor == both[1].redactor && !both[0].redactor.isPerJournal)
  }

  @Test("RPL-9 a key that cannot be used is refused, and no error contains it")
  func keys() throws {
    let secret = "fifteen bytes !"
    let short = try folder.write(Array("\(secret)\r\n\n".utf8), to: "short")
    let long = try folder.write([UInt8](repeating: 65, count: 5_000), to: "long")
    for (path, code, name) in [
      (short, 64, "badKey"), (long, 64, "badKey"), (folder.path, 64, "badKey"),
      (folder.file("no-key"), 66, "missing"), ("", 64, "badKey"), ("-", 64, "badValue"),
    ] as [(String, Int32, String)] {
      let run = ToolRun.inProcess(["state", journal, "--redact", "--key-file", path, "--json"])
      #expect(run.code == code && run.output.isEmpty, "\(path)")
      #expect(try run.error()["name"] as? String == name, "\(path)")
      #expect(!run.errors.contains(secret))
    }
    let alone = ToolRun.inProcess(["state", journal, "--key-file", folder.file("key")])
    #expect(alone.code == 64 && alone.errors.contains("--redact --key-file FILE"))
    // A file that others may read works, with a note.
    let open = try folder.write(Array("0123456789abcdef".utf8), to: "open key")
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: open)
    let noted = ToolRun.inProcess(["state", journal, "--redact", "--key-file", open])
    #expect(noted.code == 0 && noted.errors.contains("chmod 600 '"), "\(noted.errors)")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: open)
    #expect(
      ToolRun.inProcess(["state", journal, "--redact", "--key-file", open]).errors.isEmpty)
    // A pipe is a file, too.
    let pipe = try ToolRun.run(
      "/bin/bash",
      [
        "-c", "\"$1\" export \"$2\" --key-file <(printf 'sixteen-bytes-or-more\\n') --until @2",
        "bash", try ToolRun.binary(), journal,
      ])
    let golden = try #require(GoldenOutputTests.recorded()["export-key"])
    #expect(!pipe.output.isEmpty && golden.contains(pipe.output), "\(pipe.errors)")
  }

  @Test("RPL-9 a change log is not redacted, and verify shows no names of one")
  func changeLogs() throws {
    let path = folder.file("changes.log")
    for command in ["timeline", "state", "follow", "diff"] {
      let run = ToolRun.inProcess([command, path, "--redact", "--json"])
      #expect(run.code == 64 && run.output.isEmpty, "\(command)")
      #expect(try run.error()["name"] as? String == "changeLog")
    }
    #expect(ToolRun.inProcess(["verify", path, "--redact"]).code == 0)
  }

  @Test("RPL-9 advice names the token only if names are shown")
  func advice() throws {
    let path = Repository.root.appending(path: "Specs/Journals/lost-reply.journal").path
    let shown = ToolRun.inProcess(["why", path]).output
    #expect(shown.contains("for the token id "))
    let redacted = ToolRun.inProcess(["why", path, "--redact"]).output
    #expect(!redacted.contains("for the token id ") && !redacted.contains("jti-"))
    #expect(redacted.contains("it is redacted here"))
  }
}
