internal import CPeers
internal import Dispatch
internal import Foundation
@_spi(Internals) internal import SessionCore
internal import SessionJournal
internal import Synchronization

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
    outcome.figures += try text(stage, tool)
    outcome.figures += try state(stage, tool)
    outcome.figures += try statistics(stage, tool)
    guard Spawned.finds("jq") else {
      outcome.skipped.append("replay.jq, replay.filter, replay.import: jq is not installed")
      return outcome
    }
    outcome.figures += try queries(stage, tool)
    return outcome
  }

  /// Writing a whole journal as JSON lines, compared with copying those lines.
  private static func text(_ stage: Stage, _ tool: String) throws -> [Figure] {
    let journal = try stage.journal.get()
    let count = stage.eventCount
    let lines = stage.path("lines.json")
    _ = try Spawned.run([tool, "timeline", "--json", journal], output: lines)
    let rates = try Contest(contenders: [
      contender("timeline --json", count, [tool, "timeline", "--json", journal]),
      contender("cat of its output", count, ["cat", lines]),
      contender(
        "piped", count, ["sh", "-c", "\"$0\" timeline --json \"$1\" | cat", tool, journal]),
      contender("cat of its output, piped", count, ["sh", "-c", "cat \"$0\" | cat", lines]),
    ]).rates(rounds: stage.pick(3, 9))
    return [
      try .comparing(
        "replay.json", "timeline --json", to: "cat of its output", in: rates, goal: .none,
        unit: "events/s"),
      try .comparing(
        "replay.pipe", "piped", to: "cat of its output, piped", in: rates, goal: .none,
        unit: "events/s"),
    ]
  }

  /// The whole journal and a selection, compared with jq on JSON lines of the same events.
  private static func queries(_ stage: Stage, _ tool: String) throws -> [Figure] {
    let count = stage.pick(20_000, 100_000)
    let journal = try stage.writeJournal(count)
    let lines = stage.path("lines.json")
    _ = try Spawned.run([tool, "timeline", "--json", journal], output: lines)
    let export = stage.path("export.jsonl")
    _ = try Spawned.run([tool, "export", journal], output: export)
    let choice = "select(.name==\"logout\")"
    let rates = try Contest(contenders: [
      contender("timeline --json", count, [tool, "timeline", "--json", journal]),
      contender("jq", count, ["jq", "-c", ".", lines]),
      contender(
        "--kind", count, [tool, "timeline", "--json", "--kind", "logout", journal]),
      contender("jq select", count, ["jq", "-c", choice, lines]),
      contender("start of the tool", count, [tool, "--version"]),
      contender("cat of the lines", count, ["cat", lines]),
      contender(
        "import", count,
        [tool, "import", export, "-o", stage.path("imported.journal"), "--force"]),
      contender("jq on the export", count, ["jq", "-c", ".", export]),
      Contest.Contender(name: "write, sync and read of the journal") {
        try .timing(count) { try copy(journal, to: stage.path("copied.journal")) }
      },
    ]).rates(rounds: stage.pick(3, 7))
    return [
      try .comparing(
        "replay.jq", "timeline --json", to: "jq", in: rates, goal: .atLeast(10), unit: "events/s"),
      // What it could reach if it only copied its output.
      try .comparing(
        "replay.jq.limit", "cat of the lines", to: "jq", in: rates, goal: .none, unit: "events/s"),
      try .comparing(
        "replay.filter", "--kind", to: "jq select", in: rates, goal: .none, unit: "events/s"),
      // What --kind could reach if it read nothing.
      try .comparing(
        "replay.filter.limit", "start of the tool", to: "jq select", in: rates, goal: .none,
        unit: "events/s"),
      try .comparing(
        "replay.import", "import", to: "jq on the export", in: rates, goal: .atLeast(3),
        unit: "events/s"),
      // What it could reach if its lines cost nothing.
      try .comparing(
        "replay.import.limit", "write, sync and read of the journal", to: "jq on the export",
        in: rates, goal: .none, unit: "events/s"),
    ]
  }

  /// The state at the end of a long journal, compared with one pass of checksums; and its memory.
  private static func state(_ stage: Stage, _ tool: String) throws -> [Figure] {
    let count = stage.pick(1_000_000, 10_000_000)
    let path = try writeLong(stage, count)
    defer { unlink(path) }
    let words = [tool, "state", path, "--at", "@\(count - 1)"]
    let rates = try Contest(contenders: [
      contender("state --at", count, words),
      contender("stats", count, [tool, "stats", path]),
      contender("why", count, [tool, "why", path]),
      Contest.Contender(name: "CRC32C from the file") {
        try .timing(count) { keep(try checksum(of: path)) }
      },
    ]).rates(rounds: stage.pick(3, 5))
    let (short, told) = (try stage.journal.get(), stage.path("memory"))
    var figures = [
      try Figure.comparing(
        "replay.state", "state --at", to: "CRC32C from the file", in: rates, goal: .none,
        unit: "events/s"),
      try Figure.comparing(
        "replay.stats.one", "stats", to: "CRC32C from the file", in: rates, goal: .none,
        unit: "events/s"),
      try Figure.comparing(
        "replay.why", "why", to: "CRC32C from the file", in: rates, goal: .atLeast(0.25),
        unit: "events/s"),
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
      Contest.Contender(name: "CRC32C and status in threads") {
        try .timing(count) {
          let results = Mutex<[Result<UInt32, any Error>]>([])
          DispatchQueue.concurrentPerform(iterations: paths.count) { place in
            let result = Result { try checksum(of: paths[place], asksForStatus: true) }
            results.withLock { $0.append(result) }
          }
          for result in results.withLock({ $0 }) { keep(try result.get()) }
        }
      },
    ]).rates(rounds: stage.pick(3, 5))
    try FileManager.default.removeItem(atPath: folder)
    return [
      try .comparing(
        "replay.stats.many", "stats", to: "CRC32C from the files", in: rates, goal: .none,
        unit: "events/s"),
      // What it could reach if it decoded nothing, and no list and no start were needed.
      try .comparing(
        "replay.stats.many.limit", "CRC32C and status in threads", to: "CRC32C from the files",
        in: rates, goal: .none, unit: "events/s"),
      try .comparing(
        "replay.ends.many", "ends", to: "CRC32C from the files", in: rates, goal: .atLeast(0.3),
        unit: "events/s"),
    ]
  }
}

/// Writes the bytes of a file to another one durably, reads them back and removes them.
private func copy(_ path: String, to target: String) throws {
  let content = try bytes(of: path)
  let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  guard descriptor >= 0 else { throw Problem("\(target): errno \(errno)") }
  defer {
    close(descriptor)
    unlink(target)
  }
  guard write(descriptor, content, content.count) == content.count, fsync(descriptor) == 0 else {
    throw Problem("\(target): errno \(errno)")
  }
  keep(try checksum(of: target))
}

/// Computes one checksum of a file with the processor's instruction, block by block.
///
/// If `asksForStatus`, it asks for the file's status before it opens it, when it is open, and when it
/// was read, as a reader must that no writer may mislead.
private func checksum(of path: String, asksForStatus: Bool = false) throws -> UInt32 {
  var status = stat()
  if asksForStatus, stat(path, &status) != 0 { throw Problem("\(path): errno \(errno)") }
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw Problem("\(path): errno \(errno)") }
  defer { close(descriptor) }
  if asksForStatus {
    for _ in 0..<2 where fstat(descriptor, &status) != 0 { throw Problem("fstat") }
  }
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
