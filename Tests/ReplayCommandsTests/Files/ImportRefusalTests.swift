import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
@_spi(Internals) import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

@Suite("What import refuses")
struct ImportRefusalTests {
  /// The unredacted lines of the sample, with edits.
  private static func lines(_ name: String = "a.journal") throws -> [String] {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    return ToolRun.inProcess(["export", "--reveal", folder.file(name)]).output
      .split(separator: "\n").map(String.init)
  }

  /// The line and the problem with which an import of these lines ends; `nil` if it succeeds.
  static func read(_ lines: [String]) -> (line: Int, problem: ImportProblem)? {
    var reader = ImportReader()
    var number = 0
    do throws(ImportProblem) {
      for line in lines {
        number += 1
        _ = try reader.take(Array(line.utf8)[...])
      }
      number += 1
      try reader.finish()
      return nil
    } catch {
      return (number, error)
    }
  }

  /// An edit of a line, and the error that it causes.
  private static let edits:
    [(line: Int, from: String, to: String, name: ImportProblem.Name, says: String)] =
      [
        (1, "\"v\":1", "\"v\":2", .badLine, "it is of version 2"),
        (1, "\"class\":\"header\"", "\"class\":\"note\"", .badLine, "not the header"),
        (1, "\"format\":1", "\"format\":2", .badLine, "format 1"),
        (1, "01234567", "0123456X", .badLine, "UUID"),
        (1, "\"maximumRecordSize\":1048576", "\"maximumRecordSize\":63", .badLine, "64"),
        (1, "\"firstSequence\":1", "\"firstSequence\":0", .badLine, "firstSequence"),
        (1, "\"partial\":false", "\"partial\":true", .partial, "leaves out"),
        (1, "\"firstSequence\":1", "\"firstSequence\":2", .gap, "where 2 is due"),
        (2, "\"sequence\":1", "\"sequence\":2", .gap, "sequence 2 where 1 is due"),
        (
          2, "\"uptime\":86400000", "\"uptime\":86400000.5", .badLine,
          "\"facts.uptime\" is 86400000.5"
        ),
        (2, "\"uptime\":86400000", "\"uptime\":9223372036854775808", .badLine, "whole number"),
        (2, "\"uptime\"", "\"uptine\"", .badLine, "\"facts.uptime\" is missing"),
        (
          2, "\"boot\":\"boot-1\"", "\"boot\":1", .badLine, "\"facts.boot\" is a number, not a text"
        ),
        (2, "\"boot\":", "\"boots\":null,\"boot\":", .unknownField, "no \"facts.boots\""),
        (2, ",\"facts\":{", ",\"offset\":64,\"facts\":{", .unknownField, "no \"offset\""),
        (2, "\"process\":4242", "\"process\":4294967296", .badLine, "4294967295"),
        (2, "\"process\":4242", "\"process\":04242", .badLine, "leading zero"),
        (2, "\"process\":4242", "\"process\":-0", .badLine, "whole number"),
        (2, "\"opened\"", "\"openned\"", .badLine, "no record named"),
        (2, "\"class\":\"note\"", "\"class\":\"event\"", .badLine, "of class note"),
        (2, "\"class\":\"note\"", "\"class\":\"notes\"", .badLine, "no class \"notes\""),
        (2, "14:00:00.000Z", "14:00:00Z", .badLine, "\"time\" is no time"),
        (2, "14:00:00.000Z", "15:00:00.000+01:00", .badLine, "no time"),
        (
          2, "\"remainingInBatch\":0", "\"remainingInBatch\":2", .gap,
          "leaves 0 in its batch where 1"
        ),
        (2, "\"remainingInBatch\":0", "\"remainingInBatch\":65536", .badLine, "65535"),
        (2, "}}", "}}}", .badLine, "follow the value"),
        (2, "}}", "}", .badLine, "a comma or }"),
        (2, "\"v\":1", "\"v\":1,\"v\":1", .badLine, "twice"),
        (2, "}}", ",\"policy\":\"attempts=1\"}}", .badLine, "needs \"identity\""),
        (
          2, "}}",
          #","identity":{"opening":"o","boot":null,"namespace":null,"start":0,"lock":null},"#
            + #""policy":"a b"}}"#, .badLine, "is no policy"
        ),
        (2, "boot-1", "\\ud800", .badLine, "unpaired surrogate"),
        (2, "boot-1", "\\x", .badLine, "escape sequence is unknown"),
        (2, "boot-1", "boot\u{1}", .badLine, "control character"),
        (3, "\"password\"", "\"pasword\"", .badLine, "cannot be \"pasword\""),
        (3, "\"isRefreshable\":true", "\"isRefreshable\":1", .badLine, "not true or false"),
        (3, "\"role\":{", "\"role\":{\"ID\":1,", .unknownField, "facts.context.role.ID"),
        (3, "\"permissions\":[", "\"permissions\":[1,", .badLine, "only texts"),
        (5, "\"generation\":2", "\"generation\":1", .illegalLine, "refreshSucceeded"),
        (7, "DB_TIMEOUT", "DB TIMEOUT", .badLine, "is no code"),
        (7, "\"retryAfter\":500", "\"retryAfter\":-500", .badLine, "below 0"),
        (
          15, "\"remainingInBatch\":1", "\"remainingInBatch\":2", .gap,
          "leaves 0 in its batch where 1"
        ),
        (27, "\"payload\":\"00", "\"payload\":\"0", .badLine, "pairs of hexadecimal"),
        (27, "\"isIgnorable\":true", "\"isIgnorable\":false", .badLine, "isIgnorable"),
        (27, "unknown(238)", "unknown(129)", .badLine, "no record named"),
        (27, "unknown(238)", "unknown(255)", .badLine, "no record named"),
      ]

  @Test("RPL-4 import refuses each invalid line with its number and the reason")
  func refusals() throws {
    let lines = try Self.lines()
    #expect(Self.read(lines) == nil)
    for edit in Self.edits {
      var edited = lines
      let place = try #require(edited[edit.line - 1].range(of: edit.from), "\(edit)")
      edited[edit.line - 1].replaceSubrange(place, with: edit.to)
      let found = try #require(Self.read(edited), "\(edit) was taken")
      #expect(found.problem.name == edit.name, "\(edit): \(found)")
      #expect(found.problem.message.contains(edit.says), "\(edit): \(found)")
      // A wrong number that only contradicts the next line is reported at that line.
      let isOfNext =
        edit.from.contains("firstSequence\":1") && edit.to.hasSuffix("2")
        || edit.name == .gap && edit.from.contains("remaining")
      #expect(found.line == edit.line + (isOfNext ? 1 : 0), "\(edit): \(found)")
    }
  }

  @Test("RPL-4 import finds every line that is left out, doubled, moved or added")
  func order() throws {
    for name in ["a.journal", "compacted.journal"] {
      let lines = try Self.lines(name)
      for place in lines.indices {
        var fewer = lines
        fewer.remove(at: place)
        let missing = try #require(Self.read(fewer), "without line \(place + 1)")
        #expect(missing.line == place + 1, "without line \(place + 1): \(missing)")
        var more = lines
        more.insert(lines[place], at: place)
        #expect(Self.read(more)?.line == place + 2, "line \(place + 1) twice")
        guard place > 0 else { continue }
        var moved = lines
        moved.swapAt(place - 1, place)
        #expect(Self.read(moved)?.line == place, "line \(place + 1) one up")
        var blank = lines
        blank.insert("", at: place)
        #expect(Self.read(blank)?.line == place + 1)
      }
    }
  }

  @Test("RPL-4 import refuses payload bytes that contradict the line")
  func contradictions() throws {
    let lines = try Self.lines()
    for (line, payload) in [
      (27, "00"), (2, ""),
      (2, SessionCodec.encode(.note(.closed), at: SampleJournal.start).payload.hexadecimal),
    ] {
      var edited = lines
      edited[line - 1].removeLast()
      edited[line - 1] += ",\"payload\":\"\(payload)\"}"
      #expect(Self.read(edited)?.line == line, "\(payload)")
    }
  }

  @Test("RPL-4 import refuses a snapshot that no history results in")
  func impossibleSnapshot() throws {
    let lines = try Self.lines("compacted.journal")
    for (from, to) in [
      ("\"eventSequence\":8", "\"eventSequence\":12"), ("\"total\":0", "\"total\":1"),
      ("\"revocations\":[]", "\"revocations\":[1,1]"), ("\"expired\":null", "\"expired\":{}"),
    ] {
      var edited = lines
      let place = try #require(edited[1].range(of: from), "\(from) in \(edited[1])")
      edited[1].replaceSubrange(place, with: to)
      #expect(Self.read(edited)?.line == 2, "\(to)")
    }
  }

  @Test("RPL-4 import reads or refuses any bytes, and reads the same bytes alike")
  func noise() throws {
    let lines = try Self.lines().map { Array($0.utf8) }
    expect(
      Property("noise in an export is refused", cases: 300, requiredLabels: ["refused"]).check {
        choices in
        var edited = lines
        for _ in 0..<choices.draw(in: 1...3) {
          let line = choices.draw(in: 0...edited.count - 1)
          let place = choices.draw(in: 0...edited[line].count)
          switch choices.draw(below: 3) {
          case 0: edited[line].insert(UInt8(choices.draw(below: 256)), at: place)
          case 1 where place < edited[line].count: edited[line].remove(at: place)
          default:
            if place < edited[line].count { edited[line][place] = UInt8(choices.draw(below: 256)) }
          }
        }
        var reader = ImportReader()
        do throws(ImportProblem) {
          for line in edited { _ = try reader.take(line[...]) }
          try reader.finish()
          choices.label("taken")
        } catch {
          choices.label("refused")
        }
      })
  }

  @Test("RPL-4 a refused import leaves no file and reports the place of the error")
  func command() throws {
    let folder = try TemporaryFolder()
    var lines = try Self.lines()
    lines.remove(at: 6)
    let path = try folder.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: "cut.jsonl")
    let run = ToolRun.inProcess(["import", path, "-o", folder.file("new.journal")])
    #expect(run.code == 65)
    #expect(run.errors.contains("cut.jsonl, line 7: it has sequence 7 where 6 is due."))
    #expect(run.errors.contains("Nothing was imported."))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["cut.jsonl"])
    _ = try folder.write([1], to: "there")
    let there = ToolRun.inProcess(["import", path, "-o", folder.file("there"), "--json"])
    #expect(there.code == 73)
    #expect(try folder.bytes("there") == [1])
    let same = ToolRun.inProcess(["import", path, "-o", path, "--force", "--json"])
    #expect(try same.error()["name"] as? String == "sameFile")
    let timeline = ToolRun.inProcess(["timeline", "--json", try Self.sample(in: folder)])
    let other = try folder.write(Array(timeline.output.utf8), to: "timeline.jsonl")
    #expect(ToolRun.inProcess(["import", other, "--dry-run"]).errors.contains("export"))
  }

  private static func sample(in folder: TemporaryFolder) throws -> String {
    try SampleJournal.write(to: folder.file("a.journal"))
    return folder.file("a.journal")
  }
}
