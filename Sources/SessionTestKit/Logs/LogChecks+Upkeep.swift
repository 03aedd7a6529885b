import SessionJournal

// News and compaction.
extension LogChecks {
  func checkNews(_ place: Place) throws {
    let (log, other) = (try place.open { _, _ in }, try place.open { _, _ in })
    _ = try log.append([])
    _ = try other.append([.text("a")])
    try demand(try log.hasNews(), "another opening has appended, but there is no news")
    try demand(try log.hasNews(), "asking for news has hidden it")
    _ = try log.append([])
    try demand(try !log.hasNews(), "everything was received, but there is still news")
    _ = try log.append([.text("b")])
    try demand(try !log.hasNews(), "an opening's own append is no news")
    try log.close()
    try other.close()
  }

  func checkCompaction(_ place: Place) throws {
    let late = try place.open { _, _ in }
    let log = try place.open { _, _ in }
    for text in ["a", "b", "c"] { _ = try log.append([.text(text)]) }
    let behind = try place.open { _, _ in }
    _ = try log.append([.text("d")])
    let known = try place.open { _, _ in }
    let kept = try sequence(log.append([.text("e")]))
    guard
      let done = try log.compact(
        keepingFrom: kept, ifFirstIs: log.firstSequence, summary: LinesSummary())
    else { throw LogProblem("four records were not compacted") }
    try demand(done.recordsRemoved == 4, "\(done.recordsRemoved) records were removed, not 4")
    try demand(
      done.firstSequence == log.firstSequence && log.firstSequence > 1
        && log.firstSequence <= kept,
      "the first sequence is \(log.firstSequence), not \(done.firstSequence)")
    let page = try behind.records(after: 0, limit: 10)
    try demand(
      page.texts == ["a", "b", "c"] || page.first?.isSnapshot == true,
      "an opening that ends within the replaced records has the page \(page.texts)")
    _ = try log.append([.text("f")])
    let met = try known.append([])
    try demand(
      met.foreign.filter { !$0.isSnapshot }.texts == ["e", "f"],
      "an opening that knew the replaced records received \(met.foreign.texts)")
    try demand(
      known.firstSequence == log.firstSequence, "another opening does not know the compaction")
    let missed = try late.append([])
    let isWhole = missed.foreign.texts == ["a", "b", "c", "d", "e", "f"]
    let isReplaced = missed.foreign.texts == ["a\nb\nc\nd", "e", "f"]
    try demand(
      isWhole || isReplaced && missed.foreign[0].isSnapshot,
      "an opening that did not know the replaced records received \(missed.foreign.texts), neither "
        + "them nor the snapshot")
    try requireAfterCompaction(place, log)
    for opening in [late, behind, log, known] { try opening.close() }
  }

  private func requireAfterCompaction(_ place: Place, _ log: Place.Log) throws {
    let page = try log.records(after: 0, limit: 10)
    try demand(
      page.texts == ["a\nb\nc\nd", "e", "f"],
      "after a compaction the records are \(page.texts)")
    let replayed = Replay()
    let again = try place.open { replayed.take($0, $1) }
    try demand(
      replayed.records.map(\.header) == page.map(\.header) && replayed.records.texts == page.texts,
      "a reopened log replays \(replayed.records.texts)")
    try demand(
      again.firstSequence == log.firstSequence && again.lastSequence >= log.lastSequence,
      "a reopened log has other sequences")
    let second = try again.compact(keepingFrom: .max, ifFirstIs: nil, summary: LinesSummary())
    let left = try again.records(after: 0, limit: 10)
    try demand(
      second != nil && left.texts == ["a\nb\nc\nd\ne\nf"],
      "a second compaction of everything leaves \(left.texts)")
    try again.close()
    _ = try log.append([.text("g")])
  }

  /// Returns the sequence of the last record that was appended.
  private func sequence(_ done: JournalTransaction) throws(LogProblem) -> UInt64 {
    guard let last = done.appended.last else { throw LogProblem("an append returned no record") }
    return last.sequence
  }

  func checkCompactionRefusal(_ place: Place) throws {
    let log = try place.open { _, _ in }
    let last = try sequence(log.append([.text("a"), .text("b")]))
    let tries: [(String, JournalCompaction?)] = [
      (
        "no record is before the first one",
        try log.compact(keepingFrom: 1, ifFirstIs: nil, summary: LinesSummary())
      ),
      (
        "it would split a batch",
        try log.compact(keepingFrom: last, ifFirstIs: nil, summary: LinesSummary())
      ),
      (
        "the first sequence is another one",
        try log.compact(keepingFrom: .max, ifFirstIs: 9, summary: LinesSummary())
      ),
      (
        "the summary makes no snapshot",
        try log.compact(
          keepingFrom: .max, ifFirstIs: nil, summary: LinesSummary(makesNone: true))
      ),
    ]
    for (reason, done) in tries {
      try demand(done == nil, "it was compacted, although \(reason)")
    }
    let left = try log.records(after: 0, limit: 10)
    try demand(
      left.texts == ["a", "b"], "a compaction that was given up has left \(left.texts)")
    try log.close()
  }
}

/// The texts of all records, one a line.
struct LinesSummary: JournalSummary {
  var makesNone = false
  private var lines: [String] = []

  init(makesNone: Bool = false) { self.makesNone = makesNone }

  mutating func take(_ record: RecordHeader, payload: RawSpan) {
    lines.append(payload.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
  }

  func snapshot() -> [UInt8]? {
    makesNone ? nil : Array(lines.joined(separator: "\n").utf8)
  }
}
