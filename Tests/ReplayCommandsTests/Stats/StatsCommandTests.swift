import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import Testing

@testable import ReplayCommands

@Suite("stats")
struct StatsCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func many(_ count: Int) throws -> String {
    let path = folder.file("many")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    for index in 0..<count {
      try SampleJournal.write(
        to: "\(path)/\(index).journal",
        records: DrawnSession.ofFigures(
          seed: UInt64(index), records: 5 + index % 40, mayBeCompacted: false))
    }
    return path
  }

  @Test(
    "RPL-4 a thousand journals are counted; damaged ones are counted and named, and never fatal")
  func thousand() throws {
    try SampleJournal.write(to: folder.file("one.journal"))
    let good = try folder.bytes("one.journal")
    let single = try #require(
      try ToolRun.inProcess(["stats", "--json", folder.file("one.journal")]).objects().first)
    let path = folder.file("all")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    var damaged = good
    damaged[good.count / 2] ^= 0x10
    for index in 0..<996 {
      _ = try folder.write(index % 300 == 7 ? damaged : good, to: "all/\(index).journal")
    }
    _ = try folder.write(Array("hello".utf8), to: "all/text.journal")
    try FileManager.default.createDirectory(
      atPath: "\(path)/folder.journal", withIntermediateDirectories: false)
    _ = try folder.write([], to: "all/other.txt")
    let arguments = ["stats", "--json", path, folder.file("one.journal"), folder.file("none")]
    let run = ToolRun.inProcess(arguments)
    #expect(run.code == 66)
    #expect(run.errors.isEmpty)
    let answer = try #require(try run.objects().first)
    let files = try #require(answer["files"] as? [String: Any])
    #expect(files["read"] as? Int == 997)
    #expect(files["tails"] as? Int == 0)
    let named = try #require(files["damaged"] as? [[String: Any]])
    #expect(
      named.map { $0["file"] as? String }
        == ["/307", "/607", "/7", "/907", "/text"].map { "\(path)\($0).journal" })
    #expect(
      named.map { $0["name"] as? String } == [
        "damaged", "damaged", "damaged", "damaged", "notAJournal",
      ])
    let failed = try #require(files["failed"] as? [[String: Any]])
    #expect(failed.map { $0["name"] as? String } == ["missing"])
    // 993 good ones, and the records before the damage of four.
    let prefix = try #require(
      try ToolRun.inProcess(["stats", "--json", "\(path)/7.journal"]).objects().first)
    for figure in ["sessions", "records", "open"] {
      let (one, cut) = (single[figure] as? Int ?? -1, prefix[figure] as? Int ?? -1)
      #expect(answer[figure] as? Int == 993 * one + 4 * cut, "\(figure)")
    }
    let text = ToolRun.inProcess(["stats", path])
    #expect(text.code == 0)
    #expect(ToolRun.inProcess(["stats", "--strict", path]).code == 65)
    #expect(text.output.contains("Journals  996 read, 5 damaged\n"))
    #expect(text.output.contains("\(path)/607.journal is damaged at byte"))
  }

  @Test("the output is the same for any number of threads and in two runs")
  func jobs() throws {
    let path = try many(50)
    let files = (0..<50).map { JournalFile(path: "\(path)/\($0).journal", name: "\($0)") }
    for grouping in [nil] + StatsGrouping.allCases {
      let reading = StatsReading(
        files: .init(files: files), grouping: grouping, since: nil, until: nil, zone: .utc,
        interruption: Interruption())
      let answers = [1, 2, 7, 7].map { jobs in
        reading.run(jobs: jobs, ProgressBar(nil)).report.json(grouping: grouping)
      }
      let isSame = answers.allSatisfy { $0 == answers[0] }
      #expect(isSame, "\(String(describing: grouping))")
      #expect(answers[0].count > 200)
    }
  }

  @Test("RPL-4 the figures of many journals are the sums of the figures of each")
  func sums() throws {
    let path = try many(40)
    let whole = try #require(try ToolRun.inProcess(["stats", "--json", path]).objects().first)
    let each = try (0..<40).map { index in
      try #require(
        try ToolRun.inProcess(["stats", "--json", "\(path)/\(index).journal"]).objects().first)
    }
    for figure in ["records", "sessions", "continued", "open", "neverRecovered"] {
      #expect(
        whole[figure] as? Int == each.reduce(0) { $0 + ($1[figure] as? Int ?? -1) }, "\(figure)")
    }
  }

  @Test("RPL-5 a damaged journal is named in the answer; only --strict changes the exit code")
  func oneFile() throws {
    try Journals.write(into: folder)
    for (name, code, word) in [
      ("damaged", 65, "damaged"), ("illegal", 65, "illegal"), ("torn", 2, "torn"),
      ("unknown", 65, "unknownKind"), ("undecodable", 65, "undecodable"),
    ] as [(String, Int32, String)] {
      let run = ToolRun.inProcess(["stats", "--json", folder.file("\(name).journal")])
      #expect(run.code == 0, "\(name)")
      #expect(run.errors.isEmpty)
      #expect(run.output.hasPrefix("{\"v\":1,\"files\":{\"read\":1,"), "\(name)")
      #expect(run.output.contains("\"name\":\"\(word)\"") == (code == 65), "\(name)")
      let strict = ToolRun.inProcess(["stats", "--strict", folder.file("\(name).journal")])
      #expect(strict.code == code, "\(name)")
    }
    let missing = ToolRun.inProcess(["stats", folder.file("none")])
    #expect(missing.code == 66)
    #expect(missing.output.isEmpty)
    let empty = folder.file("nothing")
    try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: false)
    let none = ToolRun.inProcess(["stats", empty])
    #expect(none.code == 66)
    #expect(none.errors.contains("holds no journal"))
  }

  @Test("--since and --until count only what happened between them")
  func range() throws {
    try SampleJournal.write(to: folder.file("a.journal"))
    let path = folder.file("a.journal")
    func figures(_ options: [String]) throws -> [String: Any] {
      try #require(try ToolRun.inProcess(["stats", "--json", path] + options).objects().first)
    }
    #expect(try figures(["--since", "@16"])["sessions"] as? Int == 1)
    #expect(try figures(["--until", "@15"])["sessions"] as? Int == 1)
    #expect(try figures([])["sessions"] as? Int == 2)
    #expect(try figures(["--since", "@20", "--until", "@10"])["records"] as? Int == 0)
    #expect(try figures(["--since", "@999"])["records"] as? Int == 0)
    #expect(try figures(["--since", "@3", "--until", "@4"])["records"] as? Int == 2)
  }

  @Test("times and groups use the requested zone")
  func zones() throws {
    try SampleJournal.write(to: folder.file("a.journal"))
    let arguments = ["stats", "--by", "day", folder.file("a.journal")]
    let utc = try ToolRun.program(arguments, environment: ["TZ": "PST8"])
    #expect(utc.output.contains("\n  2026-11-21"))
    #expect(utc.output.contains("\n  2026-11-22"))
    let local = try ToolRun.program(arguments + ["--local"], environment: ["TZ": "<+12>-12"])
    #expect(local.output.contains("\n  2026-11-23"))
    #expect(local.output.contains("2026-11-22 02:00:00.000+12:00"))
  }

  @Test("an invalid value of --by is refused with a suggestion")
  func usage() throws {
    for (option, value, next) in [
      ("--by", "dya", "--by day"), ("--by", "verison", "--by version"), ("--by", "x", "one of day"),
    ] {
      let run = ToolRun.inProcess(["stats", option, value, "a.journal"])
      #expect(run.code == 64, "\(option) \(value)")
      #expect(run.errors.contains("Try: \(next)"), "\(run.errors)")
    }
  }
}

extension SampleJournal {
  /// Writes these records, one batch for each time; the journal assigns their sequences.
  static func write(to path: String, records: [SessionRecord]) throws {
    var batches: [[JournalDraft]] = []
    var last: Timestamp?
    for record in records {
      let (kind, payload) = SessionCodec.encode(record.content, at: record.time)
      let draft = JournalDraft(kind: kind, payload: payload)
      if record.time == last {
        batches[batches.count - 1].append(draft)
      } else {
        batches.append([draft])
      }
      last = record.time
    }
    var options = JournalOptions()
    options.room = .none
    // No loss of power is simulated, so thousands of commits need not wait for the disk.
    options.durability = .operatingSystem
    let journal = try Journal.open(at: path, options: options)
    for batch in batches { _ = try journal.append(batch) }
    try journal.close()
  }
}

@Suite("ProgressLine")
struct ProgressLineTests {
  @Test("RPL-4 a progress line shows how much is done, and never more than 100 %")
  func line() {
    var line = ProgressLine(
      bytes: 410_000_000, allBytes: 1_000_000_000, files: 4_102, allFiles: 10_000, elapsed: 2_000)
    #expect(line.text == "[#########···············] 41 %  4,102 of 10,000 files  205 MB/s")
    line.bytes = 2_000_000_000
    #expect(line.text.hasPrefix("[########################] 100 %  4,102 of"))
    line = ProgressLine(bytes: 0, allBytes: 0, files: 0, allFiles: 1, elapsed: 0)
    #expect(line.text == "[························] 0 %  0 of 1 file  0 MB/s")
    line = ProgressLine(bytes: .max, allBytes: .max, files: .max, allFiles: .max, elapsed: 1)
    #expect(line.text.contains(" 100 % "))
  }

  @Test("nothing is shown in the first second or without a terminal")
  func quiet() {
    for isTerminal in [true, false] {
      let seen = CollectedOutput(isTerminal: isTerminal)
      let bar = ProgressBar(Output(seen, interruption: Interruption()), now: { 0 })
      bar.show { _ in ProgressLine(bytes: 1, allBytes: 2, files: 1, allFiles: 2, elapsed: 3) }
      bar.erase()
      #expect(seen.text.isEmpty)
    }
  }

  @Test("after a second a line is shown, ten times a second, and erased at the end")
  func shown() {
    let seen = CollectedOutput(isTerminal: true)
    var time: UInt64 = 500
    let bar = ProgressBar(Output(seen, interruption: Interruption()), now: { time })
    var asked: [UInt64] = []
    for moment in [1_499, 1_500, 1_550, 1_599, 1_600, 1_601] as [UInt64] {
      time = moment
      bar.show { elapsed in
        asked.append(elapsed)
        return ProgressLine(bytes: 1, allBytes: 2, files: 1, allFiles: 2, elapsed: elapsed)
      }
    }
    #expect(asked == [1_000, 1_100])
    bar.erase()
    #expect(seen.text.hasPrefix("\r[############············] 50 %  1 of 2 files"))
    #expect(seen.text.hasSuffix("\r\u{1B}[K"))
    #expect(seen.text.split(separator: "\r").count == 3)
  }
}

@Suite("Specs/ReplayStats.md")
struct StatsPageTests {
  private func words(under heading: String) throws -> [String] {
    let lines = try Repository.text("Specs/ReplayStats.md").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: "## \(heading)"))
    return lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }.filter { $0.hasPrefix("| ") }
      .dropFirst(2).compactMap {
        $0.split(separator: "|").first?.trimmingCharacters(in: .whitespaces)
      }
  }

  @Test("RPL-4 the page names every figure of the answer, in its order, and no other")
  func figures() throws {
    let folder = try TemporaryFolder()
    try SampleJournal.write(to: folder.file("a.journal"))
    let run = ToolRun.inProcess(["stats", "--json", "--by", "method", folder.file("a.journal")])
    let groups = try #require(try run.objects().first?["groups"] as? [[String: Any]])
    let found = try #require(groups.first).keys.filter { $0 != "key" }
    let named = try words(under: "Figures")
    #expect(Set(found) == Set(named))
    let text = try #require(run.output.range(of: "\"groups\":[")).upperBound
    let places = named.map { run.output[text...].range(of: "\"\($0)\":")?.lowerBound }
    #expect(zip(places, places.dropFirst()).allSatisfy { ($0 ?? text) < ($1 ?? text) })
  }

  @Test("the page names the values of --by")
  func groupings() throws {
    #expect(try words(under: "Groups") == StatsGrouping.allCases.map(\.rawValue))
  }
}
