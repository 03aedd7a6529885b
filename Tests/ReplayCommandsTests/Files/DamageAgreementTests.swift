import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionExplain
import SessionTestKit
import Testing

@testable import ReplayCommands

/// All commands that count or explain must say the same of a damaged file.
@Suite("RPL-11 the commands agree on a damaged journal")
struct DamageAgreementTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A recorded journal with one changed byte in one record.
  private struct Damaged {
    let name: String
    let path: String
  }

  /// The records that are damaged.
  private static let sweep = Sweep("damaged records", takingOneOf: 2)

  /// Writes recorded journals with a damaged record, one after the other, and passes each on.
  private func eachDamaged(_ body: (Damaged) throws -> Void) throws -> Int {
    let kept = Repository.root.appending(path: "Specs/Journals")
    var (damaged, number) = (0, 0)
    for name in try FileManager.default.contentsOfDirectory(atPath: kept.path).sorted()
    where name.hasSuffix(".journal") {
      let bytes = Array(try Data(contentsOf: kept.appending(path: name)))
      for (index, frame) in try Journals.frames(bytes).enumerated()
      where (index + name.utf8.count) % 2 == 0 {
        defer { number += 1 }
        guard Self.sweep.takes(number) else { continue }
        var broken = bytes
        broken[frame.middle] ^= 0x10
        let path = try folder.write(broken, to: "broken.journal")
        guard ToolRun.inProcess(["verify", path, "--quiet"]).code == 65 else { continue }
        damaged += 1
        try body(Damaged(name: "\(name), record \(index + 1)", path: path))
      }
    }
    return damaged
  }

  private func report(_ path: String) -> ReportReading.Outcome {
    let file = JournalFile(path: path, name: path)
    return ReportReading(zone: .utc, interruption: Interruption()).read(
      ReplayCommands.JournalFolder.Expansion(files: [file]), ProgressBar(nil))
  }

  private func ends(_ stats: [String: Any]) throws -> Int {
    try #require(stats["ends"] as? [String: Int]).values.reduce(0, +)
  }

  @Test("RPL-11 RPL-6 stats, ends, why and report count the same ends and open sessions")
  func counts() throws {
    let other = folder.file("other.journal")
    try SampleJournal.write(to: other, batches: [(0, [.note(.closed)])])
    var found = 0
    let damaged = try eachDamaged { file in
      let rows = try ToolRun.inProcess(["ends", file.path]).objects()
      let ended = rows.count { !($0["sequence"] is NSNull) }
      found += ended
      let stats = try #require(
        try ToolRun.inProcess(["stats", "--json", file.path]).objects().first)
      #expect(try ends(stats) == ended, "\(file.name)")
      #expect(stats["open"] as? Int == rows.count - ended, "\(file.name)")
      let byCause = try #require(
        try ToolRun.inProcess(["stats", "--json", "--by", "cause", file.path]).objects().first)
      #expect(try ends(byCause) == ended, "\(file.name)")
      let causes = try #require(byCause["causes"] as? [String: Int])
      let counted = Dictionary(
        rows.filter { !($0["sequence"] is NSNull) }.map { ($0["cause"] as? String ?? "", 1) },
        uniquingKeysWith: +)
      #expect(causes == counted, "\(file.name)")
      let page = report(file.path)
      #expect(page.ends.ends == UInt64(ended), "\(file.name)")
      let why = try ToolRun.inProcess(["why", "--json", file.path, other]).objects()
      #expect(why.count == ended, "\(file.name)")
    }
    #expect(
      damaged > Self.sweep.cases(of: 150) && found > Self.sweep.cases(of: 60), "\(damaged) \(found)"
    )
  }

  @Test("RPL-6 nothing is proven of what follows the lines of a damaged journal's export")
  func exported() throws {
    var still = 0
    _ = try eachDamaged { file in
      let lines = ToolRun.inProcess(["export", file.path]).output
      guard !lines.contains("\"partial\":true") else { return }
      let export = try folder.write(Array(lines.utf8), to: "broken.jsonl")
      let answers = try ToolRun.inProcess(["why", "--json", export]).objects()
      let rows = try ToolRun.inProcess(["ends", export]).objects()
        .filter { $0["sequence"] is NSNull }
      for answer in answers.filter({ $0["class"] as? String == "still" }) + rows {
        still += 1
        #expect(answer["certainty"] as? String == "possible", "\(file.name)")
      }
      #expect(!answers.description.contains("nobodyEnded"), "\(file.name)")
    }
    #expect(still > Self.sweep.cases(of: 50))
  }

  @Test("RPL-6 nothing is proven of what follows the lines of an export that was cut")
  func cut() throws {
    let whole = ToolRun.inProcess([
      "export",
      Repository.root.appending(path: "Specs/Journals/still-signed-in.journal").path(
        percentEncoded: false),
    ]).output
    let lines = whole.split(separator: "\n").dropLast().joined(separator: "\n") + "\n"
    let path = try folder.write(Array(lines.utf8), to: "cut.jsonl")
    let answer = try #require(try ToolRun.inProcess(["why", "--json", path]).objects().first)
    #expect(answer["certainty"] as? String == "possible")
    let row = try #require(try ToolRun.inProcess(["ends", path]).objects().first)
    #expect(row["certainty"] as? String == "possible")
  }

  @Test("RPL-10 RPL-6 whatif says nothing about what follows damage")
  func otherPolicy() throws {
    var ended = 0
    let damaged = try eachDamaged { file in
      let run = ToolRun.inProcess(["whatif", file.path, "--policy", "attempts=99", "--json"])
      let answer = try #require(try run.objects().first, "\(run.errors)")
      #expect(answer["answer"] as? String != "same", "\(file.name)")
      guard answer["ending"] as? String == "unreadable" else { return }
      ended += 1
      #expect(answer["answer"] as? String == "unknown")
      #expect((answer["text"] as? String)?.contains("What follows cannot be read") == true)
    }
    #expect(
      damaged > Self.sweep.cases(of: 150) && ended > Self.sweep.cases(of: 20), "\(damaged) \(ended)"
    )
  }

  @Test("RPL-4 the page shows a row and a mark for lost records, and counts no record for them")
  func page() throws {
    try Journals.write(into: folder)
    let page = ToolRun.inProcess(["report", folder.file("damaged.journal"), "-o", "-"])
    #expect(page.code == 0)
    #expect(page.output.contains("(lost)"))
    #expect(page.output.contains("bytes lost (seq 10)"))
    #expect(page.output.contains("href=\"#j0-10\""))
    let whole = report(folder.file("a.journal")).totals.records
    #expect(report(folder.file("damaged.journal")).totals.records == whole - 1)
  }
}
