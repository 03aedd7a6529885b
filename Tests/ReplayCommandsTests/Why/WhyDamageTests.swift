import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Testing

@testable import ReplayCommands

/// Journals with lost records: what `why` still states, and how certainly.
@Suite("RPL-6 why reads past damage and proves nothing across it")
struct WhyDamageTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Journals.write(into: folder)
  }

  /// The compared fields of one answer of `--json`.
  private struct Answer {
    let place: Int?
    let kind: String
    let cause: String
    let certainty: String
    /// What is ruled out, and the sequences that were searched for it.
    let ruledOut: [(what: String, searched: ClosedRange<Int>?)]
    let untold: Set<String>

    init(_ object: [String: Any]) throws {
      place = object["sequence"] as? Int
      kind = try #require(object["class"] as? String)
      cause = try #require(object["cause"] as? String)
      certainty = try #require(object["certainty"] as? String)
      let found = try #require(object["ruledOut"] as? [[String: Any]])
      ruledOut = found.map { finding in
        let range = finding["searched"] as? [Int]
        return (finding["what"] as? String ?? "", range.map { $0[0]...$0[1] })
      }
      let words = try #require(object["untold"] as? [[String: Any]])
      untold = Set(words.compactMap { $0["what"] as? String })
    }
  }

  private func answers(_ path: String, _ options: String...) throws -> (
    run: ToolRun, answers: [Answer]
  ) {
    let run = ToolRun.inProcess(["why", path, "--json"] + options)
    return (run, try run.objects().map { try Answer($0) })
  }

  private static let ranks = ["possible": 0, "likely": 1, "proven": 2]

  /// The sample, and a journal of every cause.
  private func sources() throws -> [(name: String, bytes: [UInt8])] {
    let kept = Repository.root.appending(path: "Specs/Journals")
    let names = try FileManager.default.contentsOfDirectory(atPath: kept.path).sorted()
    return [("a.journal", try folder.bytes("a.journal"))]
      + (try names.filter { $0.hasSuffix(".journal") }.map { name in
        (name, Array(try Data(contentsOf: kept.appending(path: name))))
      })
  }

  @Test("RPL-6 the loss of any record makes no answer more certain and proves nothing")
  func everyRecord() throws {
    var (damaged, ends) = (0, 0)
    let sweep = Sweep("lost records", takingOneOf: 5)
    for (name, bytes) in try sources() {
      let path = try folder.write(bytes, to: "whole")
      let whole = Dictionary(
        uniqueKeysWithValues: try answers(path, "--all").answers.map { ($0.place ?? 0, $0) })
      var reader = try JournalReader(bytes: bytes)
      var sequences: [Int] = []
      try reader.visit { frame, _ in
        sequences.append(Int(frame.sequence))
        return true
      }
      for (index, frame) in sweep.places(of: try Journals.frames(bytes).enumerated()) {
        var broken = bytes
        broken[frame.middle] ^= 0x10
        _ = try folder.write(broken, to: "broken")
        guard ToolRun.inProcess(["verify", folder.file("broken"), "--quiet"]).code == 65 else {
          continue
        }
        damaged += 1
        let (run, found) = try answers(folder.file("broken"), "--all")
        let place = "\(name), record \(sequences[index]) lost"
        if !run.errors.contains("snapshot") {
          #expect(run.code == 65, "\(place): \(run.errors)")
        }
        for answer in found {
          // A loss before the login does not concern the session.
          let isBefore = answer.ruledOut.contains { finding in
            finding.what == "noEnd" && (finding.searched?.lowerBound ?? 0) > sequences[index]
          }
          if answer.kind == "still", !isBefore {
            #expect(answer.certainty == "possible", "\(place): \(answer)")
            #expect(!answer.ruledOut.contains { $0.what == "noEnd" }, "\(place)")
            continue
          }
          guard answer.kind != "still" else { continue }
          ends += 1
          let before = whole[answer.place ?? 0]
          // A logout by the user stays one, whether or not the session had expired before.
          let isSameEnd =
            answer.cause == "user-logout" && before?.cause == "user-logout-after-expiry"
          if answer.cause != before?.cause, !isSameEnd {
            #expect(answer.certainty == "possible", "\(place): \(answer)")
          } else {
            let (now, then) = (Self.ranks[answer.certainty], Self.ranks[before?.certainty ?? ""])
            #expect(now ?? 9 <= then ?? 0, "\(place): \(answer)")
          }
          for finding in answer.ruledOut {
            // A finding by absence must not search a range with a lost record.
            let isSearched = finding.searched?.contains(sequences[index]) ?? false
            #expect(!isSearched, "\(place): \(finding)")
            let isOld = before?.ruledOut.contains { $0.what == finding.what } ?? false
            #expect(isOld, "\(place): \(finding) is ruled out by a loss")
          }
        }
      }
    }
    #expect(damaged > 200 / sweep.share && ends > 100 / sweep.share, "\(damaged) \(ends)")
  }

  @Test("RPL-6 an end after damage is found, and a line names the loss")
  func endBehind() throws {
    var bytes = try folder.bytes("a.journal")
    // The request that the server refused, before the first end.
    bytes[try Journals.frames(bytes)[12].middle] ^= 1
    let path = try folder.write(bytes, to: "hole.journal")
    let run = ToolRun.inProcess(["why", path, "--at", "@15"])
    #expect(run.code == 65)
    // The plain sentences come first, and the losses after them.
    let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[0].hasPrefix("Signed out (possibly): "), "\(run.output)")
    let blank = try #require(lines.firstIndex(of: ""))
    #expect(lines[blank - 1] == "-- 72 bytes lost (seq 13) --")
    #expect(run.output.contains("the server says that the refresh token has expired"))
    #expect(!run.output.contains("Ruled out"))
    #expect(run.output.contains("what the lost 72 bytes from byte 1,168 on said"))
    #expect(run.errors.contains("timeline \(path), for"))
    #expect(run.errors.contains("repair \(path) -o OUT"))
  }

  @Test("RPL-6 after a repair, no answer rules out what the dropped bytes may contain")
  func repaired() throws {
    var checked = 0
    let sweep = Sweep("repairs", takingOneOf: 8)
    for (name, bytes) in try sources() {
      for frame in sweep.places(of: try Journals.frames(bytes)) {
        var broken = bytes
        broken[frame.middle] ^= 0x10
        let path = try folder.write(broken, to: "broken")
        guard ToolRun.inProcess(["verify", path, "--quiet"]).code == 65 else { continue }
        unlink(folder.file("fixed"))
        unlink(folder.file("fixed.dropped"))
        guard ToolRun.inProcess(["repair", path, "-o", folder.file("fixed")]).code == 0 else {
          continue
        }
        let (run, answers) = try answers(folder.file("fixed"))
        let answer = try #require(answers.last, "\(name): \(run.errors)")
        guard answer.kind == "still" else { continue }
        checked += 1
        #expect(answer.certainty == "possible", "\(name): \(answer)")
        #expect(!answer.ruledOut.contains { $0.what == "noEnd" }, "\(name): \(answer)")
        #expect(answer.untold.contains("cutTail"), "\(name): \(answer)")
      }
    }
    #expect(checked > 100 / sweep.share)
  }

  @Test("RPL-6 errors about damage name the next command: timeline or repair")
  func nextSteps() throws {
    let damaged = folder.file("damaged.journal")
    for arguments in [
      ["timeline", damaged], ["state", damaged], ["diff", damaged], ["why", damaged],
      ["verify", damaged], ["export", damaged], ["stats", damaged, "--strict"],
      ["report", damaged, "--strict", "-o", "-"],
    ] {
      let run = ToolRun.inProcess(arguments)
      #expect(run.code == 65)
      let next = run.errors.split(separator: "\n").last ?? ""
      #expect(
        next.contains("sessionreplay timeline") || next.contains("sessionreplay repair"),
        "\(arguments)")
    }
  }
}
