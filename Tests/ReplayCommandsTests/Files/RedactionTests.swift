import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

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
  private static let names = CommandList.all.map { $0.syntax }.filter {
    $0.options.contains { $0.name == "redact" }
  }.map(\.name)

  /// Options with which each command says as much as it can.
  private static let options: [String: [[String]]] = [
    "timeline": [[], ["-r", "-C", "2", "--kind", "login"]], "state": [[], ["--at", "@3"]],
    "diff": [["--from", "@0", "--all-fields"], []], "verify": [[]],
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
              else { throw Falsified("\(arguments): \(run.errors)") }
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
    #expect(users(timeline, ["SESSIONREPLAY_KEY": other, "SESSIONREPLAY_KEY_FILE": key]) == wanted)
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
          path: path, name: path, redactor: Redactor(isRedacting: true, needsKey: true, chosen: nil)
        )
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
    #expect(ToolRun.inProcess(["state", journal, "--redact", "--key-file", open]).errors.isEmpty)
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

/// Looks for pieces of secret values in output.
///
/// Does not know how records are redacted. A name is every text in the facts of the
/// journal's lines that is neither a word of a table nor a time.
enum Leak {
  /// Keys whose texts are words of tables, or times.
  private static let plain: Set = [
    "method", "trigger", "reason", "kind", "outcome", "cause", "item", "operation", "issuedAt",
    "expiresAt", "retryAt", "deadline", "since",
  ]

  /// Every piece of the source's names in `text`, including the payloads of unknown kinds.
  static func search(_ text: String, source: String, isLines: Bool = true) throws -> [String] {
    let revealed = ToolRun.inProcess(["export", "--reveal", source])
    var secrets: Set<[UInt8]> = []
    var kept: [String] = []
    for line in try revealed.objects() {
      if let id = line["journal"] as? String { secrets.formUnion(pieces(id)) }
      if let payload = line["payload"] as? String, line["class"] as? String == "unknown" {
        secrets.formUnion(pieces(payload))
      }
      if let facts = line["facts"] { collect(facts, "", &secrets, &kept) }
    }
    let words = Set((vocabulary + kept).flatMap { pieces($0) })
    secrets.subtract(words)
    secrets = secrets.filter { piece in !piece.allSatisfy { (0x2D...0x3A).contains($0) } }
    var told = [text]
    for line in isLines ? text.split(separator: "\n") : [] {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
      strings(object, &told)
    }
    return told.flatMap { pieces($0) }.filter { secrets.contains($0) }.map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// Words that are in every export.
  private static let vocabulary: [String] =
    Pseudonyms.Category.allCases.map(\.rawValue) + [
      "journal", "school", "permissions", "unknown", "generation", "snapshot", "ending", "header",
      "materials", "request", "requests", "sequence",
    ]

  private static func collect(
    _ value: Any, _ key: String, _ secrets: inout Set<[UInt8]>, _ kept: inout [String]
  ) {
    switch value {
    case let object as [String: Any]:
      for (key, value) in object { collect(value, key, &secrets, &kept) }
    case let array as [Any]: for value in array { collect(value, key, &secrets, &kept) }
    case let text as String:
      if plain.contains(key) { return }
      // These do not identify a person, and they help to find a bug.
      if key == "app" { return kept.append(text) }
      if key == "demand" {
        for word in text.split(separator: " ") {
          let isAge = word.hasPrefix("max_age=")
          if isAge { kept.append(String(word)) } else { secrets.formUnion(pieces(String(word))) }
        }
        return
      }
      // A server's error code is kept if the current rules accept it.
      if key == "serverCode", text.first?.isUppercase == true || text == "invalid_grant" {
        kept.append(text)
      } else {
        secrets.formUnion(pieces(text))
      }
    default: break
    }
  }

  private static func strings(_ value: Any, _ found: inout [String]) {
    switch value {
    case let object as [String: Any]: for value in object.values { strings(value, &found) }
    case let array as [Any]: for value in array { strings(value, &found) }
    case let text as String: found.append(text)
    default: break
    }
  }

  /// The letters of pseudonyms, which a piece of a name may have by chance.
  private static let letters = Set("0123456789abcdefghjkmnpqrstvwxyz-".utf8)

  /// All pieces of 6 bytes; of 8 bytes if a pseudonym could contain them by chance.
  private static func pieces(_ text: String) -> Set<[UInt8]> {
    let bytes = Array(text.utf8)
    var pieces: Set<[UInt8]> = []
    for start in bytes.indices {
      let piece = bytes[start...].prefix(6)
      guard piece.count == 6 else { break }
      if piece.allSatisfy(letters.contains) {
        if start + 8 <= bytes.count { pieces.insert(Array(bytes[start..<(start + 8)])) }
      } else {
        pieces.insert(Array(piece))
      }
    }
    return pieces
  }
}
