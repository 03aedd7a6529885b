@_spi(Internals) import SessionCore

@testable import ReplayCommands
@testable import SessionExplain

/// Records in memory, read in the simplest way: other sources must be equal to it.
struct StepArray: StepSource {
  let entries: [JournalEntry]
  var fault: String?
  /// The number of searches after which one is stopped; `nil` never.
  var patience: Int?

  init(_ entries: [JournalEntry], fault: String? = nil) {
    self.entries = entries
    self.fault = fault
  }

  /// The sample's records, as a journal holds them.
  static var sample: StepArray {
    var entries: [JournalEntry] = []
    for batch in SampleJournal.batches {
      for (index, content) in batch.contents.enumerated() {
        let record = SessionRecord(
          sequence: UInt64(entries.count + 1), time: SampleJournal.start.advanced(by: batch.after),
          content: content)
        entries.append(
          JournalEntry(
            record: record, offset: 64 + UInt64(entries.count) * 100,
            remainingInBatch: UInt16(batch.contents.count - index - 1)))
      }
    }
    return StepArray(entries)
  }

  var total: StepTotal { .exactly(UInt64(entries.count)) }

  func record(at place: UInt64) -> JournalEntry? {
    place < UInt64(entries.count) ? entries[Int(place)] : nil
  }

  func fold(before place: UInt64) -> SessionFold {
    var fold = SessionFold()
    for entry in entries.prefix(Int(place)) {
      do {
        try fold.apply(entry.record)
      } catch {
        break
      }
    }
    return fold
  }

  mutating func find(_ match: StepMatch, from place: UInt64, _ direction: StepDirection)
    -> StepFinding
  {
    if let left = patience {
      guard left > 0 else { return .stopped }
      patience = left - 1
    }
    guard place < UInt64(entries.count) else { return .none }
    let places =
      direction == .forward
      ? Array(Int(place)..<entries.count) : Array((0...Int(place)).reversed())
    let found = places.first { match.matches(entries[$0].record) }
    return found.map { .found(UInt64($0)) } ?? .none
  }

  func explanation(at place: UInt64) -> Explanation? {
    guard let target = record(at: place)?.record.sequence, patience != 0 else { return nil }
    var search = WhySearch(target: target)
    for entry in entries {
      guard search.take(entry, { _ in }) else { break }
    }
    var found: Evidence?
    let open = search.finish(damagedAt: nil) { found = $0 }
    return (found ?? open).map { Explainer.explain($0) }
  }

  func last() -> StepFinding {
    entries.isEmpty ? .none : .found(UInt64(entries.count - 1))
  }
}
