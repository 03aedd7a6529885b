internal import CPeers
internal import Foundation
@_spi(Internals) internal import SessionCore
internal import SessionJournal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

extension Group {
  /// The debugger as a program, compared with common tools.
  static let replay = Group(name: "replay", summary: "sessionreplay, the program") { stage in
    let tool = stage.tool
    guard FileManager.default.isExecutableFile(atPath: tool) else {
      return Outcome(skipped: [
        "replay: no program at \(tool); "
          + "swift build -c release --product sessionreplay -Xswiftc -static-executable"
      ])
    }
    var outcome = Outcome()
    outcome.figures += try long(stage, tool)
    outcome.figures += try statistics(stage, tool)
    guard Spawned.finds("jq") else {
      outcome.skipped.append("replay.jq, replay.import: jq is not installed")
      return outcome
    }
    outcome.figures += try queries(stage, tool)
    return outcome
  }

  /// Writing and reading JSON lines, compared with jq on lines of the same events.
  private static func queries(_ stage: Stage, _ tool: String) throws -> [Figure] {
    let count = stage.pick(20_000, 100_000)
    let journal = try stage.writeJournal(count)
    let lines = stage.path("lines.json")
    _ = try Spawned.run([tool, "timeline", "--json", journal], output: lines)
    let export = stage.path("export.jsonl")
    _ = try Spawned.run([tool, "export", journal], output: export)
    let rates = try Contest(contenders: [
      contender("timeline --json", count, [tool, "timeline", "--json", journal]),
      contender("jq", count, ["jq", "-c", ".", lines]),
      contender(
        "import", count,
        [tool, "import", export, "-o", stage.path("imported.journal"), "--force"]),
      contender("jq on the export", count, ["jq", "-c", ".", export]),
    ]).rates(rounds: stage.pick(3, 7))
    return [
      try .comparing(
        "replay.jq", "timeline --json", to: "jq", in: rates, goal: .atLeast(10), unit: "events/s"),
      try .comparing(
        "replay.import", "import", to: "jq on the export", in: rates, goal: .atLeast(3),
        unit: "events/s"),
    ]
  }

  /// The last end of a long journal, compared with one pass of checksums; and the memory of commands.
  private static func long(_ stage: Stage, _ tool: String) throws -> [Figure] {
    let count = stage.pick(1_000_000, 10_000_000)
    let path = try writeLong(stage, count)
    defer { unlink(path) }
    let rates = try Contest(contenders: [
      contender("why", count, [tool, "why", path]),
      Contest.Contender(name: "CRC32C from the file") {
        try .timing(count) { keep(try checksum(of: path)) }
      },
    ]).rates(rounds: stage.pick(3, 5))
    let (short, told) = (try stage.journal.get(), stage.path("memory"))
    var figures = [
      try Figure.comparing(
        "replay.why", "why", to: "CRC32C from the file", in: rates, goal: .atLeast(0.25),
        unit: "events/s")
    ]
    for (name, arguments) in [
      ("timeline", ["timeline", "--json"]), ("state", ["state"]), ("verify", ["verify"]),
      ("last", ["timeline", "-n", "20"]), ("stats", ["stats"]), ("why", ["why"]),
    ] {
      var (long, brief): ([Double], [Double]) = ([], [])
      for _ in 0..<3 {
        long.append(try Spawned.memory(of: [tool] + arguments + [path], told: told))
        brief.append(try Spawned.memory(of: [tool] + arguments + [short], told: told))
      }
      figures.append(
        Figure(
          name: "replay.memory.\(name)", against: "\(stage.eventCount) events", goal: .atMost(1),
          ratio: Samples(zip(long, brief).map { ($0 - $1) / 1024 }), value: Samples(long).median,
          againstValue: Samples(brief).median, unit: "KiB; MiB more"))
    }
    return figures
  }

  private static func contender(_ name: String, _ count: Int, _ words: [String])
    -> Contest.Contender
  {
    Contest.Contender(name: name) {
      Contest.Run(units: count, seconds: try Spawned.run(words).seconds)
    }
  }

  /// Writes a journal that does not fit into memory twice, in batches and without syncs.
  private static func writeLong(_ stage: Stage, _ count: Int) throws -> String {
    let path = stage.path("long.journal")
    let journal = try Journal.open(
      at: path, options: JournalOptions(durability: .operatingSystem))
    var workload = Workload()
    var batch: [JournalDraft] = []
    for number in 1...count {
      let record = workload.next()
      let (kind, payload) = SessionCodec.encode(record.content, at: record.time)
      batch.append(JournalDraft(kind: kind, payload: payload))
      if batch.count == 64 || number == count {
        _ = try journal.append(batch)
        batch.removeAll(keepingCapacity: true)
      }
    }
    try journal.close()
    return path
  }

  /// Counting in many journals, compared with one pass of checksums over the same files.
  private static func statistics(_ stage: Stage, _ tool: String) throws -> [Figure] {
    let (journals, events) = (stage.pick(500, 10_000), 100)
    let original = try stage.writeJournal(events)
    let folder = stage.path("many")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { unlink(original) }
    let paths = (0..<journals).map { "\(folder)/\($0).journal" }
    for path in paths { try FileManager.default.copyItem(atPath: original, toPath: path) }
    let count = journals * events
    let rates = try Contest(contenders: [
      contender("stats", count, [tool, "stats", folder]),
      contender("ends", count, [tool, "ends", folder]),
      Contest.Contender(name: "CRC32C from the files") {
        try .timing(count) { for path in paths { keep(try checksum(of: path)) } }
      },
    ]).rates(rounds: stage.pick(3, 5))
    try FileManager.default.removeItem(atPath: folder)
    return [
      try .comparing(
        "replay.stats.many", "stats", to: "CRC32C from the files", in: rates, goal: .none,
        unit: "events/s"),
      try .comparing(
        "replay.ends.many", "ends", to: "CRC32C from the files", in: rates, goal: .atLeast(0.3),
        unit: "events/s"),
    ]
  }
}

/// Computes one checksum of a file with the processor's instruction, block by block.
private func checksum(of path: String) throws -> UInt32 {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw Problem("\(path): errno \(errno)") }
  defer { close(descriptor) }
  var block = [UInt8](repeating: 0, count: 128 * 1024)
  var (offset, sum) = (off_t(0), UInt32(0))
  while true {
    let count = block.withUnsafeMutableBytes {
      pread(descriptor, $0.baseAddress, $0.count, offset)
    }
    guard count >= 0 else { throw Problem("pread: errno \(errno)") }
    guard count > 0 else { return sum }
    sum ^= cchecksum_crc32c(0, block, count)
    offset += off_t(count)
  }
}
