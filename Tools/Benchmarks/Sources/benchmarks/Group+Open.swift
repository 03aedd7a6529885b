internal import CPeers
internal import Foundation
internal import SessionJournal

extension Group {
  /// Opening after a crash; the time of syncs is counted separately.
  static let open = Group(name: "open", summary: "open 10,000 events after a crash") { stage in
    let count = 10_000
    let crashed = try crashedJournal(stage, count)
    let same = stage.path("read.journal")
    try crashed.write(to: URL(filePath: same))
    let contenders = [
      Contest.Contender(name: "open") {
        let path = stage.path("crashed.journal")
        // As the writer left them: with its mode, and with the lock file that each writer creates.
        for (file, content) in [(path, crashed), (path + ".lock", Data())] {
          let isThere = FileManager.default.createFile(
            atPath: file, contents: content, attributes: [.posixPermissions: 0o600])
          try expect(isThere, "the crashed journal could not be written")
        }
        let syncs = peers_sync_nanoseconds()
        var seen = 0
        var journal: Journal?
        let run = try Contest.Run.timing(1) {
          journal = try Journal.open(at: path) { _, _ in seen += 1 }
        }
        let synced = Double(peers_sync_nanoseconds() - syncs) / 1e9
        try expect(seen == count, "opening lost records")
        try expect(journal?.recovery.repair != nil, "the crash left no trace")
        try journal?.close()
        return Contest.Run(units: 1, seconds: run.seconds - synced)
      },
      Contest.Contender(name: "read + verify") {
        try .timing(1) {
          var seen = 0
          var reader = try JournalReader(path: same)
          try reader.visit { _, _ in
            seen += 1
            return true
          }
          try expect(seen == count, "reading lost records")
        }
      },
    ]
    let rates = try Contest(contenders: contenders).rates(rounds: stage.pick(11, 101))
    let times = rates.mapValues { $0.map { 1e6 / $0 } }
    guard let opening = times["open"], let reading = times["read + verify"] else {
      throw Problem("opening was not measured")
    }
    return Outcome(figures: [
      Figure(
        name: "open.read", against: "read + verify", goal: .atMost(2),
        ratio: Samples(zip(opening, reading).map { $0 / $1 }), value: Samples(opening).median,
        againstValue: Samples(reading).median, unit: "µs")
    ])
  }

  /// Returns the bytes of a journal whose writer died in its last write; every commit was synced.
  private static func crashedJournal(_ stage: Stage, _ count: Int) throws -> Data {
    let path = stage.path("open.journal")
    let journal = try Journal.open(at: path)
    var place = 0
    while place < count {
      _ = try journal.append(stage.drafts(min(50, count - place), from: &place))
    }
    let url = URL(filePath: path)
    var reader = try JournalReader(path: path)
    _ = try reader.ending()
    var content = Data(try Data(contentsOf: url).prefix(Int(reader.totals.bytes)))
    let end = content.count
    _ = try journal.append(stage.drafts(1, from: &place))
    let next = try Data(contentsOf: url)
    // The last frame is incomplete.
    content.append(next[end..<end + 40])
    try journal.close()
    return content
  }
}
