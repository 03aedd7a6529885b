import Foundation
import SessionJournal
import SessionKit
import Synchronization

// Several openings at the same time, and calls that fail.
extension LogChecks {
  func checkDecision(_ place: Place) throws {
    let (log, other) = (try place.open { _, _ in }, try place.open { _, _ in })
    _ = try other.append([.text("a")])
    let met = Mutex<String?>(nil)
    let done = try log.transact { (foreign) throws(Never) in
      // The log is in use: another opening must not append now.
      let attempt = Race { _ = try other.append([.text("between")]) }
      let outcome = attempt.wait(atMost: longestWait)
      met.withLock { met in
        switch outcome {
        case nil: met = "another opening waited longer than \(longestWait)"
        case .success?: met = "another opening has appended during a decision"
        case .failure(let error)?: met = Self.isBusy(error) ? nil : "another opening: \(error)"
        }
      }
      return ([.text("b")], foreign.texts)
    }
    if let problem = met.withLock({ $0 }) { throw LogProblem(problem) }
    try demand(done.value == ["a"], "the decision received \(done.value), not [a]")
    let after = try Self.patiently { try other.append([.text("c")]) }
    try demand(after.foreign.texts == ["b"], "another opening received \(after.foreign.texts)")
    try log.close()
    try other.close()
  }

  func checkBusy(_ place: Place) throws {
    let (log, other) = (try place.open { _, _ in }, try place.open { _, _ in })
    let problem = try log.transact {
      (_) throws(Never) -> (drafts: [JournalDraft], value: String?) in
      let attempts: [(String, Race)] = [
        ("transact", Race { _ = try other.append([.text("x")]) }),
        ("open", Race { try place.open { _, _ in }.close() }),
        (
          "compact",
          Race { _ = try other.compact(keepingFrom: 1, ifFirstIs: nil, summary: LinesSummary()) }
        ),
        ("records", Race { _ = try other.records(after: 0, limit: 1) }),
        ("hasNews", Race { _ = try other.hasNews() }),
      ]
      for (name, attempt) in attempts {
        switch attempt.wait(atMost: longestWait) {
        case nil: return ([], "\(name) waited longer than \(longestWait) for a log in use")
        case .failure(let error)? where !Self.isBusy(error):
          return ([], "\(name) failed as \(error), not as busy")
        case .success? where name == "transact": return ([], "transact did not find the log busy")
        default: continue
        }
      }
      return ([], nil)
    }.value
    if let problem { throw LogProblem(problem) }
    let replayed = Replay()
    try place.open { replayed.take($0, $1) }.close()
    try demand(replayed.records.isEmpty, "a busy call has written: \(replayed.records.texts)")
    _ = try Self.patiently { try other.append([.text("y")]) }
    try log.close()
    try other.close()
  }

  func checkThreads(_ place: Place) throws {
    try place.open { _, _ in }.close()
    let appends = appends
    let threads = (0..<writers).map { _ in
      Race { try Self.countUp(at: place, times: appends) }
    }
    try requireCount(place, after: threads)
  }

  func checkProcesses(_ place: Place) throws {
    guard let startProcess else { return }
    try place.open { _, _ in }.close()
    let appends = appends
    let threads = (0..<writers).map { _ in Race { try startProcess(place, appends) } }
    try requireCount(place, after: threads)
  }

  /// Expects that all writers have ended, and that no number is missing or repeated.
  private func requireCount(_ place: Place, after writers: [Race]) throws {
    for writer in writers {
      guard let outcome = writer.wait(atMost: .seconds(300)) else {
        throw LogProblem("a writer did not end in five minutes")
      }
      try outcome.get()
    }
    let tally = Tally()
    try Self.patiently { try place.open { tally.take($0, $1) } }.close()
    let wanted = UInt64(writers.count * appends)
    try demand(
      tally.last == wanted,
      "\(writers.count) writers appended \(appends) numbers each. The log ends at "
        + "\(tally.last.map(String.init) ?? "a missing or repeated number"), not at \(wanted).")
  }

  func checkFailure(_ place: Place, _ fault: Fault) throws {
    let (log, other) = (try place.open { _, _ in }, try place.open { _, _ in })
    _ = try log.append([.text("a")])
    try fault.inject(place)
    let batch: [JournalDraft] = [.text("b1"), .text("b2")]
    var acknowledged = false
    let mine: [String]
    do throws(TransactionError<Void, Never>) {
      _ = try log.transact { _ in (batch, ()) }
      acknowledged = true
    } catch {
      // The rest finds out what is left of the batch.
    }
    try fault.heal(place)
    let (witness, known) = try appendAfterFault(other, place)
    try demand(
      known == ["a", "b1", "b2"] || known == ["a"] && !acknowledged,
      "\(fault.name): another opening received \(known)")
    var seen = known + ["c"]
    // A batch of which it was unknown whether it is durable is received, or was acknowledged.
    let expected = acknowledged ? ["c"] : Array(seen.dropFirst())
    do throws(JournalError) {
      mine = try log.append([.text("d")]).foreign.texts
      seen.append("d")
    } catch {
      guard case .poisoned = error else { throw error }
      mine = expected
    }
    try demand(mine == expected, "\(fault.name): the opening received \(mine), not \(expected)")
    try log.close()
    try witness.close()
    let replayed = Replay()
    try place.open { replayed.take($0, $1) }.close()
    try demand(
      replayed.records.texts == seen,
      "\(fault.name): the log holds \(replayed.records.texts), not \(seen)")
  }

  /// Appends `c` by another opening, and returns that opening and the records before `c`.
  ///
  /// A fault may reach each opening that was there: a file system reports a failed sync to each open
  /// file. Then a new opening takes its place.
  private func appendAfterFault(
    _ other: Place.Log, _ place: Place
  ) throws -> (witness: Place.Log, known: [String]) {
    do throws(JournalError) {
      return (
        other,
        try Self.patiently { () throws(JournalError) in
          try other.append([.text("c")])
        }.foreign.texts
      )
    } catch {
      try other.close()
    }
    let replayed = Replay()
    let fresh = try Self.patiently { try place.open { replayed.take($0, $1) } }
    var known = replayed.records.texts
    if known.last == "c" { known.removeLast() } else { try fresh.append([.text("c")]) }
    return (fresh, known)
  }

  func checkSecrets(_ place: Place) throws {
    guard let secrets else { return }
    let (log, store) = (try place.open { _, _ in }, secrets(place))
    let item = SecretItem.token
    func write(_ text: String, _ drafts: [JournalDraft], refusing: Bool = false) throws {
      _ = try log.transact { (_) throws(Stop) in
        do throws(SecretStoreError) { try store.write(item, Array(text.utf8)) } catch {
          throw Stop()
        }
        if refusing { throw Stop() }
        return (drafts, ())
      }
    }
    func stored() throws -> String? {
      try store.read(item).map { String(decoding: $0, as: UTF8.self) }
    }
    func expect(_ text: String, after what: String) throws {
      let found = try stored()
      try demand(found == text, "after \(what) the secret is \(found ?? "missing"), not \(text)")
    }
    try write("one", [.text("a")])
    try expect("one", after: "an append")
    try write("two", [])
    try expect("two", after: "a decision without drafts")
    do { try write("three", [.text("b")], refusing: true) } catch {
      // That is what is tested.
    }
    try expect("two", after: "a refusal")
    do { try write("four", [JournalDraft(kind: 0, payload: [])]) } catch {
      // That is what is tested.
    }
    try expect("two", after: "a failed append")
    try log.close()
    try place.open { _, _ in }.close()
    try expect("two", after: "opening the log again")
  }
}

/// Work on a thread of its own, and its outcome.
private final class Race: Sendable {
  private let condition = NSCondition()
  private let outcome = Mutex<Result<Void, any Error>?>(nil)

  init(_ work: @escaping @Sendable () throws -> Void) {
    Thread.detachNewThread { [self] in
      let result = Result { try work() }
      condition.lock()
      outcome.withLock { $0 = result }
      condition.broadcast()
      condition.unlock()
    }
  }

  /// Waits for the outcome; nil if there is none in this time.
  func wait(atMost limit: Duration) -> Result<Void, any Error>? {
    let parts = limit.components
    let end = Date(
      timeIntervalSinceNow: Double(parts.seconds) + Double(parts.attoseconds) / 1e18)
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let found = outcome.withLock({ $0 }) { return found }
      guard condition.wait(until: end) else { return outcome.withLock { $0 } }
    }
  }
}
