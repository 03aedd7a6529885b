import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import Testing

@Suite("timeline")
struct TimelineTests {
  private let folder: TemporaryFolder
  private var journal: String { folder.file("a.journal") }

  init() throws {
    folder = try TemporaryFolder()
    try SampleJournal.write(to: folder.file("a.journal"))
  }

  /// The sequences that a timeline with these options shows.
  private func sequences(_ options: String...) throws -> [Int] {
    let run = ToolRun.inProcess(["timeline", journal, "--json"] + options)
    #expect(run.code == 0, "\(options): \(run.errors)")
    let text = ToolRun.inProcess(["timeline", journal] + options)
    let lines = text.output.split(separator: "\n").compactMap { line in
      line.split(separator: " ").first.flatMap { Int($0) }
    }
    let found = try run.objects().compactMap { $0["sequence"] as? Int }
    #expect(lines == found, "text and JSON show different records: \(options)")
    return found
  }

  @Test("RPL-1 selectors select the records that they name")
  func selectors() throws {
    #expect(try sequences() == Array(1...27))
    #expect(try sequences("--since", "@25") == [25, 26, 27])
    #expect(try sequences("--since", "@-2") == [26, 27])
    #expect(try sequences("--since=@-99", "--until=@1") == [1])
    #expect(try sequences("--since", "@28") == [])
    #expect(try sequences("--until", "@0") == [])
    #expect(try sequences("--until", "@-26") == [1, 2])
    #expect(try sequences("--until", "@-27") == [1])
    #expect(try sequences("--until", "@-28") == [])
    #expect(try sequences("--since", "2026-11-22T15:00:00.300Z") == [24, 25, 26, 27])
    #expect(try sequences("--since", "2026-11-22T16:00:00.300+01:00") == [24, 25, 26, 27])
    #expect(try sequences("--until", "2026-11-21T14:00:00.104Z") == [1])
    #expect(try sequences("--until", "2026-11-21T13:59:59Z") == [])
    #expect(try sequences("--since", "2027-01-01T00:00:00Z") == [])
    #expect(try sequences("--since", "-600ms") == [22, 23, 24, 25, 26, 27])
    #expect(try sequences("--since", "-0s") == [27])
    #expect(try sequences("--until", "-1d1h0m0s600ms") == [1])
    // The last record is of the 22nd, 15:00:00.600.
    #expect(try sequences("--since", "15:00:00.400") == [25, 26, 27])
    #expect(try sequences("--since", "15:00") == [22, 23, 24, 25, 26, 27])
    #expect(try sequences("--since", "15:01:41", "--until", "15:03:20.001") == [17, 18, 19])
    #expect(try sequences("--since", "15:05") == [21, 22, 23, 24, 25, 26, 27])
  }

  @Test("RES-5 RES-6 REF-8 timeline describes what a journal continues and how wrong the clock was")
  func continued() throws {
    let old = Identifier("01234567-89ab-4def-8123-456789abcdef")
    func link(_ cause: SessionNote.ContinuationCause, _ journal: Identifier?, _ sequence: UInt64)
      -> SessionRecord.Content
    {
      .note(
        .continued(
          SessionNote.Continued(journal: journal, sequence: sequence, cause: cause)))
    }
    let path = folder.file("b.journal")
    try SampleJournal.write(
      to: path,
      batches: [
        (
          0,
          [
            link(.damaged, old, 412), link(.newerVersion, nil, 0), link(.notAJournal, nil, 0),
            link(.lost, old, 0), .note(.clockSkew(7_200_000)), .note(.clockSkew(-90_000)),
          ]
        )
      ])
    let words = ToolRun.inProcess(["timeline", path]).output.split(separator: "\n").suffix(6)
    let expected = [
      "goes on from journal 01234567-89ab-4def-8123-456789abcdef, damaged and set aside, read to seq "
        + "412",
      "goes on from a file, of a newer version and set aside",
      "goes on from a file that is no journal and was set aside",
      "goes on from journal 01234567-89ab-4def-8123-456789abcdef, of which only the secrets were "
        + "found",
      "this device's time is 2 h ahead of the server's",
      "this device's time is 1 min 30 s behind the server's",
    ]
    #expect(words.count == expected.count)
    for (line, text) in zip(words, expected) { #expect(line.hasSuffix(text), "\(line)") }
    let facts = try ToolRun.inProcess(["timeline", path, "--json"]).objects()
      .compactMap { $0["facts"] as? [String: Any] }
    #expect(facts.first?["cause"] as? String == "damaged")
    #expect(facts.first?["sequence"] as? Int == 412)
    #expect(facts.last?["milliseconds"] as? Int == -90_000)
  }

  @Test("RPL-1 -n, -r and --kind select records")
  func choice() throws {
    #expect(try sequences("-n", "2") == [26, 27])
    #expect(try sequences("-n0") == [])
    #expect(try sequences("-n", "99") == Array(1...27))
    #expect(try sequences("-r") == Array((1...27).reversed()))
    #expect(try sequences("-rn", "2") == [27, 26])
    #expect(try sequences("--kind", "login,logout") == [2, 16, 22])
    #expect(try sequences("--kind", "unknown") == [26])
    #expect(try sequences("--kind", "event", "--number=1", "--reverse") == [22])
    #expect(try sequences("--kind", "event", "-n", "2", "--until", "@15") == [14, 15])
    #expect(try sequences("--kind", "note,event,unknown").count == 27)
    #expect(try sequences("--kind", "event").count + sequences("--kind", "note").count == 26)
  }

  @Test(
    "RPL-5 -n names the range that it accepts",
    arguments: ["-1", "99999999999999999999", "few", "", "1.5"])
  func noNumber(text: String) {
    let run = ToolRun.inProcess(["timeline", journal, "-n", text])
    #expect(run.code == 64)
    #expect(
      run.errors == "Error: -n cannot be '\(text)': it takes a whole number from 0 to "
        + "18446744073709551615.\nTry: -n 20\n")
  }

  @Test("a text that is not a selector is refused")
  func noSelectors() {
    for text in [
      "", "@", "@x", "@-0", "@-", "@+1", "@1.5", "@99999999999999999999", "-", "-h", "-3", "-3y",
      "-3h5", "--3h", "-99999999999999999999d", "-999999999999999d", "25:00", "14:60", "1:2", "+5",
      "5.5", "14:02:5", "14:02:05.", "14:02Z", "14:02+01", "2026-11-21T", "2026-11-21 25:00",
      "2026-1-1", "2026-02-30", "2026-02-30T00:00:00Z", "now", "tomorrow",
    ] {
      let run = ToolRun.inProcess(["state", journal, "--at", text, "--json"])
      #expect(run.code == 64, "\(text)")
      #expect(run.errors.contains("\"badSelector\""), "\(text)")
    }
  }

  @Test("a time selects one place even if the clock was set back")
  func clockSetBack() throws {
    let path = folder.file("back.journal")
    let note = SessionRecord.Content.note(.closed)
    try SampleJournal.write(
      to: path, batches: [(0, [note]), (5_000, [note]), (2_000, [note]), (9_000, [note])])
    func shown(_ option: String, _ time: String) throws -> [Int] {
      let run = ToolRun.inProcess(["timeline", path, "--json", option, "2026-11-21T14:00:\(time)Z"])
      return try run.objects().compactMap { $0["sequence"] as? Int }
    }
    #expect(try shown("--since", "03") == [2, 3, 4])
    #expect(try shown("--until", "03") == [1, 2, 3])
  }

  @Test("colours are used on a terminal, unless an option or the environment forbids them")
  func colors() {
    func isColored(_ options: [String], _ environment: [String: String], _ isTerminal: Bool)
      -> Bool
    {
      let run = ToolRun.inProcess(
        ["timeline", journal] + options, environment: environment, isTerminal: isTerminal)
      return run.output.contains("\u{1B}[")
    }
    #expect(isColored([], [:], true))
    #expect(!isColored([], [:], false))
    #expect(!isColored([], ["NO_COLOR": "1"], true))
    #expect(isColored([], ["NO_COLOR": ""], true))
    #expect(!isColored([], ["TERM": "dumb"], true))
    #expect(isColored(["--color", "always"], ["NO_COLOR": "1"], false))
    #expect(!isColored(["--color=never"], [:], true))
    #expect(!isColored(["--json"], [:], true))
  }

  @Test("names from a server cannot control the terminal or break a line")
  func escapes() throws {
    for options in [["--json"], []] {
      let run = ToolRun.inProcess(["timeline", journal] + options)
      #expect(run.output.split(separator: "\n").count == 27)
      let unsafe = run.output.unicodeScalars.filter { scalar in
        scalar != "\n" && (scalar.value < 0x20 || (0x202A...0x202E).contains(scalar.value))
      }
      #expect(unsafe.isEmpty)
    }
    let head = try ToolRun.inProcess(["timeline", journal, "--json", "--since", "@12"]).objects()[0]
    let facts = try #require(head["facts"] as? [String: Any])
    let context = try #require(facts["context"] as? [String: Any])
    let role = try #require(context["role"] as? [String: Any])
    #expect(role["name"] as? String == SampleJournal.head.role.name)
  }

  @Test("an error suggests the command or option that was probably meant")
  func suggestions() {
    for (arguments, next) in [
      (["timelin", journal], "sessionreplay timeline"),
      (["Verify", journal], "sessionreplay verify"),
      (["stat", journal], "sessionreplay state"),
      (["time"], "sessionreplay timeline"),
      (["frobnicate"], "sessionreplay --help"),
      (["help", "verfiy"], "sessionreplay help verify"),
      (["help", "selectrs"], "sessionreplay help selectors"),
      (["timeline", "--jsno", journal], "--json"),
      (["timeline", "--unitl", "@1", journal], "--until"),
      (["timeline", "-x", journal], "sessionreplay timeline --help"),
      (["timeline", "--kind", "refreshFail", journal], "--kind refreshFailed"),
      (["timeline", "--color", "allways", journal], "--color always"),
      (["verify", "--since", "@1", journal], "sessionreplay verify --help"),
    ] {
      let run = ToolRun.inProcess(arguments)
      #expect(run.code == 64, "\(arguments)")
      #expect(run.output.isEmpty)
      #expect(run.errors.hasSuffix("\nTry: \(next)\n"), "\(arguments): \(run.errors)")
    }
  }

  @Test("RPL-5 help and version need no journal, and options may follow operands")
  func help() {
    for arguments in [["--help"], ["-h"], ["help"], ["state", "-h"], ["help", "state"]] {
      let run = ToolRun.inProcess(arguments)
      #expect(run.code == 0)
      #expect(run.output.contains("Usage: sessionreplay "))
      #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= 100 }, "\(arguments)")
    }
    #expect(ToolRun.inProcess(["--version"]).output.hasPrefix("sessionreplay "))
    #expect(ToolRun.inProcess(["state", "--", journal]).code == 0)
    #expect(ToolRun.inProcess(["state", "--json", journal, "--at", "@3"]).code == 0)
    #expect(ToolRun.inProcess(["state", "--", "--json"]).code == 66)
  }
}
