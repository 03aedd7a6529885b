import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import Testing

@Suite("RPL-1 Records that a timeline shows around, between and after others")
struct TimelineOptionsTests {
  private let folder: TemporaryFolder
  private var journal: String { folder.file("a.journal") }

  init() throws {
    folder = try TemporaryFolder()
    try Journals.write(into: folder)
  }

  private func lines(_ options: [String], of name: String = "a.journal") -> [String] {
    let run = ToolRun.inProcess(["timeline", folder.file(name)] + options)
    #expect(run.code == 0, "\(options): \(run.errors)")
    return run.output.split(separator: "\n").map(String.init)
  }

  private func sequences(_ options: [String]) throws -> [Int] {
    try ToolRun.inProcess(["timeline", journal, "--json"] + options).objects()
      .compactMap { $0["sequence"] as? Int }
  }

  @Test("RPL-1 --reason selects ends and failures by reason, or by a server's code in any case")
  func reasons() throws {
    #expect(try sequences(["--reason", "rejected"]) == [14])
    #expect(try sequences(["--reason", "TOKEN_EXPIRED"]) == [14])
    #expect(try sequences(["--reason", "DB_TIMEOUT,user"]) == [6, 22])
    #expect(try sequences(["--reason", "refreshRejected,noReply"]) == [10, 15])
    #expect(try sequences(["--reason", "failed,signedOut"]) == [24, 25])
    #expect(try sequences(["--reason", "user", "--kind", "note"]) == [])
    #expect(try sequences(["--reason", "invalid_grant"]) == [])
    #expect(try sequences(["--reason", "RefreshRejected"]) == [15])
    let words: [(String, String?)] = [
      ("rejectd", "--reason rejected"), ("tokenexpird", "--reason tokenExpired"),
      ("NO_SUCH_THING", nil), ("no_such_thing", nil), ("nosuchthing", "one of "), ("", "one of "),
      ("token_expired", nil), ("a.b", nil), ("!!!", "one of "), ("what ever", "one of "),
      ("CÓDIGO", "one of "), (String(repeating: "A", count: 64), nil),
      (String(repeating: "A", count: 65), "one of "),
    ]
    for (word, next) in words {
      let run = ToolRun.inProcess(["timeline", journal, "--reason", word])
      // A word that is not a known reason may be a server's code.
      #expect(run.code == (next == nil ? 0 : 64), "\(word)")
      if let next { #expect(run.errors.contains(next), "\(word): \(run.errors)") }
    }
  }

  @Test("RPL-5 an option or an operand without effect is refused")
  func withoutEffect() {
    let cases: [[String]] = [
      ["help", "codes", "extra"], ["help", "timeline", "extra"],
      ["repair", journal, "--dry-run", "-o", "X", "--force"],
      ["repair", journal, "--dry-run", "--in-place"],
      ["repair", journal, "--in-place", "--force"],
      ["export", journal, "--force"], ["export", journal, "-o", "-", "--force"],
    ]
    for arguments in cases {
      let run = ToolRun.inProcess(arguments)
      #expect(run.code == 64, "\(arguments)")
      #expect(run.output.isEmpty && run.errors.contains("Try:"), "\(arguments): \(run.errors)")
    }
  }

  @Test("RPL-1 -C shows records around matches, each once, with a line between groups")
  func context() throws {
    let all = try sequences([])
    for number in [0, 1, 2, 5, 30, 1000] {
      for kind in ["login", "note", "logout", "event", "unknown", "refreshFailed,closed"] {
        let matches = Set(try sequences(["--kind", kind]))
        let wanted = all.filter { place in
          matches.contains { abs($0 - place) <= number }
        }
        let options = ["--kind", kind, "-C", "\(number)"]
        let objects = try ToolRun.inProcess(["timeline", journal, "--json"] + options).objects()
        #expect(objects.compactMap { $0["sequence"] as? Int } == wanted, "\(kind) \(number)")
        let marked = objects.filter { $0["isContext"] as? Bool == false }
        #expect(Set(marked.compactMap { $0["sequence"] as? Int }) == matches)
        #expect(try sequences(options + ["-r"]) == wanted.reversed())
        let separators = zip(wanted, wanted.dropFirst()).count { $1 - $0 > 1 }
        let text = lines(options)
        #expect(text.count { $0 == "--" } == separators, "\(kind) \(number)")
        #expect(text.count { $0 == "--" } + wanted.count == text.count)
        #expect(lines(options + ["-r"]).count == text.count)
      }
    }
    // Around a place, and around the last of several matches.
    #expect(
      try sequences(["--since", "@14", "--until", "@14", "-C", "2"]) == [12, 13, 14, 15, 16])
    #expect(try sequences(["--kind", "event", "-n", "1", "-C", "1"]) == [21, 22, 23])
    let run = ToolRun.inProcess(["timeline", journal, "-C", "1001"])
    #expect(run.code == 64)
    #expect(run.errors.contains("from 0 to 1000"))
  }

  @Test("RPL-1 --delta is the time since the record above it, whatever is selected")
  func delta() throws {
    let objects = try ToolRun.inProcess(["timeline", journal, "--json", "--delta"]).objects()
    #expect(objects.first?["delta"] is NSNull)
    #expect(
      objects.dropFirst().prefix(5).compactMap { $0["delta"] as? Int } == [105, 1000, 45, 1000, 50])
    let events = try ToolRun.inProcess(
      ["timeline", journal, "--json", "--delta", "--kind", "login", "-n", "2", "-r"]
    ).objects()
    #expect(events.compactMap { $0["delta"] as? Int } == [3_699_895])
    #expect(events.last?["delta"] is NSNull)
    let back = folder.file("back.journal")
    let note = SessionRecord.Content.note(.closed)
    try SampleJournal.write(
      to: back, batches: [(86_400_000, [note]), (86_401_250, [note]), (54_001_250, [note])])
    let text = lines(["--delta"], of: "back.journal")
    #expect(text[0].hasPrefix("    1                2026-11-22"))
    #expect(text[1].hasPrefix("    2      +1.250 s  2026-11-22"))
    #expect(text[2].hasPrefix("    3          -9 h  2026-11-22"))
    #expect(lines(["--delta", "--color", "always"], of: "back.journal")[2].contains("\u{1B}[31m"))
  }

  @Test("JRN-2 a timeline shows the readable records after damage and what is lost before them")
  func behind() throws {
    let path = folder.file("damaged.journal")
    let text = ToolRun.inProcess(["timeline", path])
    #expect(text.code == 65)
    let lines = text.output.split(separator: "\n").map(String.init)
    #expect(lines.count { $0.hasPrefix("-- ") && $0.hasSuffix("lost (seq 10) --") } == 1)
    #expect(lines.count == 27)
    let objects = try ToolRun.inProcess(["timeline", path, "--json"]).objects()
    let behind = objects.filter { $0["behind"] as? Bool == true }
    #expect(objects.compactMap { $0["sequence"] as? Int } == Array(1...9) + Array(11...27))
    #expect(behind.compactMap { $0["sequence"] as? Int } == Array(11...27))
    // A record that cannot be decoded counts as a loss and does not end the timeline.
    try SampleJournal.write(
      to: folder.file("odd.journal"),
      drafts: [9, 1, 9].enumerated().map { index, size in
        let (kind, payload) = SessionCodec.encode(.note(.closed), at: SampleJournal.start)
        return [.init(kind: kind, payload: index == 1 ? Array(payload.prefix(size)) : payload)]
      })
    let odd = ToolRun.inProcess(["timeline", folder.file("odd.journal")])
    #expect(odd.code == 65)
    #expect(odd.output.contains("-- a record that cannot be read (seq 2) --\n    3 "))
    // Losses keep their place among the last records, in either order.
    let last = ToolRun.inProcess(["timeline", path, "-n", "18"])
    #expect(last.code == 65)
    #expect(last.output.split(separator: "\n").map(String.init) == lines.suffix(19))
    let reversed = ToolRun.inProcess(["timeline", path, "-r"]).output.split(separator: "\n")
    #expect(reversed.map(String.init) == lines.reversed())
    #expect(
      ToolRun.inProcess(["timeline", path, "-n", "2"]).output.split(separator: "\n").count == 2)
    let since = ToolRun.inProcess(["timeline", path, "--since", "@20", "--json"])
    #expect(try since.objects().compactMap { $0["sequence"] as? Int } == Array(20...27))
  }

  @Test("RPL-1 -n with a ring and -n with two passes show the same records")
  func ring() throws {
    let all = ToolRun.inProcess(["timeline", journal, "--json"]).output.split(separator: "\n")
    for number in [0, 1, 2, 26, 27, 28] {
      for options in [["-n", "\(number)"], ["-n", "\(number)", "-C", "0"]] {
        let run = ToolRun.inProcess(["timeline", journal, "--json"] + options)
        let found = run.output.replacing("\"isContext\":false,", with: "").split(separator: "\n")
        #expect(found == Array(all.suffix(number)), "\(options)")
        let reversed = ToolRun.inProcess(["timeline", journal, "--json", "-r"] + options).output
          .replacing("\"isContext\":false,", with: "").split(separator: "\n")
        #expect(reversed == all.suffix(number).reversed(), "\(options)")
      }
    }
  }

  @Test("RPL-1 -n shows the requested records even if they exceed the memory limit")
  func largeRecords() throws {
    // Nine megabytes: more than the limit.
    let payload = [UInt8](repeating: 7, count: 48 * 1024)
    let path = folder.file("large.journal")
    try SampleJournal.write(
      to: path,
      batches: (0..<200).map { (Int64($0), [.unknown(.init(kind: 0xEE, payload: payload))]) })
    let run = ToolRun.inProcess(["timeline", path, "-n", "199"])
    #expect(run.code == 0)
    let found = run.output.split(separator: "\n").compactMap { $0.split(separator: " ").first }
    #expect(found.count == 199)
    #expect(found.first == "2" && found.last == "200")
  }

  @Test("RPL-5 a missing file results in an error that suggests a similar name")
  func missing() throws {
    for (name, next) in [
      ("b.journal", "a.journal"), ("damged.journal", "damaged.journal"),
      ("zzzzzzzzzz", "check the path"),
    ] {
      let run = ToolRun.inProcess(["timeline", folder.file(name)])
      #expect(run.code == 66)
      #expect(run.errors.hasSuffix("\(next)\n"), "\(run.errors)")
    }
    let lonely = try TemporaryFolder()
    try SampleJournal.write(to: lonely.file("only one.journal"))
    let run = ToolRun.inProcess(["state", lonely.file("nothing like it")])
    #expect(run.errors.hasSuffix("Try: '\(lonely.file("only one.journal"))'\n"))
  }
}
