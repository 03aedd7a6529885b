import SessionJournal
import SessionKit

// What one opening appends, and what another one reads.
extension LogChecks {
  func checkIdentity(_ place: Place) throws {
    try demand(
      place.presence() == .absent, "a new log must be absent, but it is \(place.presence())")
    let first = try place.open { _, _ in }
    let second = try place.open { _, _ in }
    try demand(
      first.identifier == second.identifier, "two openings have two identifiers")
    try demand(
      first.name == place.name && second.name == place.name, "an opening has another name")
    try demand(
      place.presence() == .present(first.identifier),
      "the log was opened, but its presence is \(place.presence())")
    try demand(first.firstSequence == 1, "the first sequence of a new log is not 1")
    try first.close()
    try second.close()
    let again = try place.open { _, _ in }
    try demand(again.identifier == first.identifier, "a reopened log has another identifier")
    try again.close()
  }

  func checkOrder(_ place: Place) throws {
    let batches: [[JournalDraft]] = [
      [.text("one")],
      [.text("two"), JournalDraft(kind: 0x7E, payload: []), .text("four")],
      [JournalDraft(kind: 0xFE, payload: (0..<5_000).map { UInt8(truncatingIfNeeded: $0) })],
    ]
    let log = try place.open { _, _ in }
    var appended: [JournalRecord] = []
    for batch in batches {
      let done = try log.append(batch)
      try demand(done.foreign.isEmpty, "the only opening received records of others")
      try demand(
        done.appended.map(\.payload) == batch.map(\.payload)
          && done.appended.map(\.kind) == batch.map(\.kind),
        "an append returned other records than its drafts")
      appended += done.appended
    }
    try demand(
      log.lastSequence == appended.last?.sequence, "lastSequence is not that of the last append")
    try log.close()
    let replayed = Replay()
    let again = try place.open { replayed.take($0, $1) }
    try demand(
      zip(appended, appended.dropFirst()).allSatisfy { $0.sequence < $1.sequence },
      "the sequences do not grow")
    try demand(
      replayed.records.map(\.header) == appended.map(\.header),
      "the replay has other records, or another order: \(replayed.records.map(\.header)), and "
        + "\(appended.map(\.header)) were appended")
    try demand(
      replayed.records.map(\.payload) == appended.map(\.payload), "a payload was changed")
    let left = replayed.records.map(\.remainingInBatch)
    try demand(left == [0, 2, 1, 0, 0], "the batches are \(left), not [0, 2, 1, 0, 0]")
    try demand(
      again.lastSequence >= log.lastSequence, "the reopened log has a lower lastSequence")
    try again.close()
  }

  func checkDelivery(_ place: Place) throws {
    let first = try place.open { _, _ in }
    let second = try place.open { _, _ in }
    let own = try first.append([.text("a"), .text("b")])
    let met = try receive(second, appending: [.text("c")])
    try demand(
      met.map(\.header) == own.appended.map(\.header),
      "the second opening received \(met.texts), and the first one had appended [a, b]")
    let next = try receive(first)
    try demand(next.texts == ["c"], "the first opening received \(next.texts), not [c]")
    for log in [first, second] {
      let none = try receive(log)
      try demand(none.isEmpty, "records were received twice: \(none.texts)")
    }
    _ = try second.append([.text("d")])
    let foreign = try refuse(first)
    try demand(foreign.texts == ["d"], "a refusal received \(foreign.texts), not [d]")
    let after = try receive(first)
    try demand(after.isEmpty, "a record was received again after a refusal")
    try first.close()
    try second.close()
  }

  /// Makes a decision, and returns the records that it received.
  private func receive(
    _ log: Place.Log, appending drafts: [JournalDraft] = []
  ) throws -> [JournalRecord] {
    let done = try log.transact { (foreign) throws(Never) in (drafts, foreign) }
    try demand(
      done.value.map(\.header) == done.transaction.foreign.map(\.header),
      "the decision received \(done.value.texts), and the transaction reports "
        + "\(done.transaction.foreign.texts)")
    return done.value
  }

  func checkRefusal(_ place: Place) throws {
    let log = try place.open { _, _ in }
    _ = try log.append([.text("a")])
    let last = log.lastSequence
    _ = try refuse(log)
    let empty = try log.append([])
    try demand(empty.appended.isEmpty, "an append without drafts has written a record")
    for kind: UInt8 in [0, 0x7F, 0xFF] {
      try refused(log, [.text("x"), JournalDraft(kind: kind, payload: [])], "kind \(kind)") {
        if case .reservedKind = $0 { true } else { false }
      }
    }
    try refused(
      log, Array(repeating: .text(""), count: 65_537), "a batch of 65,537 records"
    ) { if case .batchTooLarge = $0 { true } else { false } }
    try demand(log.lastSequence == last, "a refusal has changed lastSequence")
    try log.close()
    let replayed = Replay()
    try place.open { replayed.take($0, $1) }.close()
    try demand(
      replayed.records.texts == ["a"], "a refusal has written: \(replayed.records.texts)")
  }

  /// Makes a decision that throws, and returns the records that it received.
  private func refuse(_ log: Place.Log) throws -> [JournalRecord] {
    var found: TransactionError<Void, Stop>?
    do throws(TransactionError<Void, Stop>) {
      _ = try log.transact {
        (_) throws(Stop) -> (drafts: [JournalDraft], value: Void) in throw Stop()
      }
    } catch {
      found = error
    }
    switch found {
    case nil: throw LogProblem("a decision that throws was not refused")
    case .refused(_, let foreign)?: return foreign
    case let other?: throw LogProblem("a decision that throws is no refusal, but \(other)")
    }
  }

  private func refused(
    _ log: Place.Log, _ drafts: [JournalDraft], _ what: String,
    _ isExpected: (JournalError) -> Bool
  ) throws {
    var found: TransactionError<Void, Never>?
    do throws(TransactionError<Void, Never>) {
      _ = try log.transact { _ in (drafts, ()) }
    } catch {
      found = error
    }
    switch found {
    case nil: throw LogProblem("\(what) was accepted")
    case .appendFailed(let problem, _)? where isExpected(problem): return
    case let other?: throw LogProblem("\(what) failed as \(other)")
    }
  }

  func checkPages(_ place: Place) throws {
    let log = try place.open { _, _ in }
    var all: [JournalRecord] = []
    for number in 0..<20 {
      all += try log.append((0...number % 3).map { .text("\(number).\($0)") }).appended
    }
    for limit in [1, 7, 1_000] {
      var (found, after): ([JournalRecord], UInt64) = ([], 0)
      while true {
        let page = try log.records(after: after, limit: limit)
        try demand(page.count <= limit, "a page of \(limit) has \(page.count) records")
        guard let last = page.last else { break }
        try demand(last.sequence > after, "a page does not go on")
        found += page
        after = last.sequence
      }
      try demand(
        found.map(\.header) == all.map(\.header) && found.texts == all.texts,
        "pages of \(limit) records are not the whole log")
    }
    let other = try place.open { _, _ in }
    let known = log.lastSequence
    _ = try other.append([.text("other")])
    let rest = try log.records(after: known, limit: 10)
    try demand(
      rest.isEmpty, "a page has records beyond lastSequence: \(rest.texts)")
    try other.close()
    try log.close()
  }

  func checkClosing(_ place: Place) throws {
    let (log, other) = (try place.open { _, _ in }, try place.open { _, _ in })
    _ = try log.append([.text("a")])
    try log.close()
    try log.close()
    let failures: [(String, () throws -> Void)] = [
      ("transact", { _ = try log.append([.text("b")]) }),
      ("records", { _ = try log.records(after: 0, limit: 1) }),
      ("hasNews", { _ = try log.hasNews() }),
    ]
    for (name, call) in failures {
      do {
        try call()
      } catch let error as JournalError {
        guard case .closed = error else { throw LogProblem("\(name) throws \(error)") }
        continue
      }
      throw LogProblem("\(name) works after close")
    }
    let done = try other.append([.text("c")])
    try demand(done.foreign.texts == ["a"], "another opening does not go on after a close")
    try other.close()
  }
}

/// The refusal of a decision.
struct Stop: Error {}

/// The records that a log replays.
final class Replay {
  private(set) var records: [JournalRecord] = []

  func take(_ header: RecordHeader, _ payload: RawSpan) {
    records.append(
      JournalRecord(
        sequence: header.sequence, offset: 0, kind: header.kind,
        remainingInBatch: header.remainingInBatch,
        payload: payload.withUnsafeBytes { Array($0) }))
  }
}

extension SessionLog {
  /// Appends a batch after everything that others have appended.
  @discardableResult
  func append(_ drafts: [JournalDraft]) throws(JournalError) -> JournalTransaction {
    do throws(TransactionError<Void, Never>) {
      return try transact { _ in (drafts, ()) }.transaction
    } catch {
      throw error.journalError
    }
  }
}

extension JournalDraft {
  static func text(_ text: String) -> JournalDraft {
    JournalDraft(kind: 1, payload: Array(text.utf8))
  }
}

extension [JournalRecord] {
  var texts: [String] { map { String(decoding: $0.payload, as: UTF8.self) } }
}
