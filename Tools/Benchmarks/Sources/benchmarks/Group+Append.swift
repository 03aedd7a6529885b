internal import SessionJournal

extension Group {
  /// One record per append, durable when the call returns.
  static let appendOne = Group(name: "append", summary: "durable append, one at a time") { stage in
    let journal = try Journal.open(at: stage.path("engine.journal"))
    let shared = try Journal.open(at: stage.path("submit.journal"))
    let raw = try RawFile(stage.path("raw"))
    let relation = try Relation(stage.path("full.sqlite"), .full)
    let level = try LevelStore(stage.path("leveldb"))
    let count = stage.pick(10, 20)
    let drafts = Array(stage.drafts.prefix(count)).map { [$0] }
    let payloads = drafts.map { $0[0].payload }
    let frames = drafts.map { RawFile.bytes(for: $0) }
    let rows = drafts.map { $0.map(Relation.row) }
    var contenders = [
      Contest.Contender(name: "raw") {
        try .timing(count) { for bytes in frames { try raw.append(bytes) } }
      },
      Contest.Contender(name: "engine") {
        try .timing(count) { for draft in drafts { _ = try journal.append(draft) } }
      },
      Contest.Contender(name: "submit") {
        try blocking {
          let clock = ContinuousClock()
          let start = clock.now
          for draft in drafts { _ = try await shared.submit(draft) }
          return Contest.Run(units: count, seconds: (clock.now - start) / .seconds(1))
        }
      },
      Contest.Contender(name: "SQLite") {
        try .timing(count) { for row in rows { try relation.insert(row) } }
      },
    ]
    if let level {
      contenders.append(
        Contest.Contender(name: "LevelDB") {
          try .timing(count) { for payload in payloads { try level.put(payload) } }
        })
    }
    let rates = try Contest(contenders: contenders).rates(rounds: stage.pick(25, 250))
    try relation.verify()
    try journal.close()
    try shared.close()
    var outcome = Outcome()
    outcome.figures = [
      try .comparing(
        "append.engine.raw", "engine", to: "raw", in: rates, goal: .atLeast(1.3), unit: "records/s"),
      try .comparing(
        "append.engine.sqlite", "engine", to: "SQLite", in: rates, goal: .atLeast(1.5),
        unit: "records/s"),
      try .comparing(
        "append.submit.raw", "submit", to: "raw", in: rates, goal: .atLeast(0.9),
        unit: "records/s"),
    ]
    if level != nil {
      outcome.figures.append(
        try .comparing(
          "append.engine.leveldb", "engine", to: "LevelDB", in: rates, goal: .atLeast(1.3),
          unit: "records/s"))
    } else {
      outcome.skipped.append("append.engine.leveldb: libleveldb is not installed")
    }
    return outcome
  }

  /// Sixty-four records per sync.
  static let appendMany = Group(name: "append64", summary: "durable append, 64 at a time") {
    stage in
    let size = 64
    let journal = try Journal.open(at: stage.path("engine64.journal"))
    let raw = try RawFile(stage.path("raw64"))
    let relation = try Relation(stage.path("full64.sqlite"), .full)
    let batchCount = 8
    var place = 0
    let batches = (0..<batchCount).map { _ in stage.drafts(size, from: &place) }
    let frames = batches.map { RawFile.bytes(for: $0) }
    let rows = batches.map { $0.map(Relation.row) }
    let count = batchCount * size
    let contenders = [
      Contest.Contender(name: "raw") {
        try .timing(count) { for bytes in frames { try raw.append(bytes) } }
      },
      Contest.Contender(name: "engine") {
        try .timing(count) { for batch in batches { _ = try journal.append(batch) } }
      },
      Contest.Contender(name: "SQLite") {
        try .timing(count) { for row in rows { try relation.insert(row) } }
      },
    ]
    let rates = try Contest(contenders: contenders).rates(rounds: stage.pick(15, 150))
    try relation.verify()
    try journal.close()
    return Outcome(figures: [
      try .comparing(
        "append64.engine.raw", "engine", to: "raw", in: rates, goal: .atLeast(0.9),
        unit: "records/s"),
      try .comparing(
        "append64.engine.sqlite", "engine", to: "SQLite", in: rates, goal: .atLeast(1.5),
        unit: "records/s"),
    ])
  }

  /// Appends that count as done when the system has the bytes.
  static let appendUnsynced = Group(
    name: "unsynced", summary: "append with the durability of the operating system"
  ) { stage in
    let journal = try Journal.open(
      at: stage.path("unsynced.journal"),
      options: JournalOptions(durability: .operatingSystem))
    let relation = try Relation(stage.path("normal.sqlite"), .normal)
    let count = stage.pick(16_000, 64_000)
    var place = 0
    let batches = (0..<count / 64).map { _ in stage.drafts(64, from: &place) }
    let rows = batches.flatMap { $0 }.map(Relation.row)
    let thousands = stride(from: 0, to: count, by: 1000).map { Array(rows[$0..<$0 + 1000]) }
    let contenders = [
      Contest.Contender(name: "engine") {
        try .timing(count) { for batch in batches { _ = try journal.append(batch) } }
      },
      Contest.Contender(name: "SQLite, 1000 a transaction") {
        try .timing(count) { for rows in thousands { try relation.insert(rows) } }
      },
    ]
    let rates = try Contest(contenders: contenders).rates(rounds: stage.pick(3, 11))
    try relation.verify()
    try journal.close()
    return Outcome(figures: [
      try .comparing(
        "unsynced.engine.sqlite", "engine", to: "SQLite, 1000 a transaction", in: rates,
        goal: .atLeast(5), unit: "records/s")
    ])
  }
}
