@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// Finds what `why` explains in one pass: every end, the last end, or the state at a record.
struct WhySearch {
  let target: UInt64?
  private let isAll: Bool
  private var fold: EvidenceFold
  private var found: Evidence?
  /// The evidence about the session at the target.
  private var asOf: Evidence?
  /// The number of ends that were found, and of those that come before the one to explain.
  private var ends: UInt64 = 0
  private var endsBefore: UInt64 = 0
  /// The fault of a record that ended the pass.
  private(set) var fault: JournalFault?
  /// The fault of the first record that the state before it does not allow; such records are left
  /// out.
  private(set) var impossible: JournalFault?
  /// The sequence of the last record that was folded or left out.
  private(set) var last: UInt64 = 0
  /// The sequence of the last record that a compaction removed; 0 if there is none.
  private(set) var compacted: UInt64 = 0
  /// Whether the answer was known before the end of the file.
  private(set) var isOver = false

  init(target: UInt64? = nil, isAll: Bool = false) {
    self.target = target
    self.isAll = isAll
    fold = EvidenceFold(watching: target)
  }

  /// Takes the next record; returns whether the search needs another one.
  ///
  /// It passes on each end if all are to be explained.
  mutating func take(_ entry: JournalEntry, _ body: (Evidence) -> Void) -> Bool {
    if let target, entry.record.sequence > target {
      if asOf == nil { asOf = fold.open }
      if asOf != nil, !fold.isWaiting {
        isOver = true
        return false
      }
    }
    if last == 0, case .snapshot = entry.record.content { compacted = entry.record.sequence }
    var complete: [Evidence] = []
    do throws(SessionFold.Failure) {
      try fold.take(entry) { complete.append($0) }
    } catch {
      guard case .illegal = error else {
        fault = JournalFault(error, at: entry.place)
        return false
      }
      // The true state is unknown here, as it is after lost records.
      impossible = impossible ?? JournalFault(error, at: entry.place)
      let number = entry.record.sequence
      interrupt(
        EvidenceGap(
          after: last, offset: entry.offset, bytes: 0, sequences: number...number, isLeftOut: true),
        body)
      last = number
      return true
    }
    last = entry.record.sequence
    for evidence in complete { take(evidence, body) }
    return true
  }

  private mutating func take(_ evidence: Evidence, _ body: (Evidence) -> Void) {
    switch evidence.subject {
    case .end(let fact):
      ends += 1
      if isAll { return body(evidence) }
      if let target, fact.batch > target { return }
      if case .record? = found?.subject { return }
      (found, endsBefore) = (evidence, ends - 1)
    case .record:
      found = evidence
    case .open:
      break
    }
  }

  /// Notes that records are missing; passes on each end if all are to be explained.
  mutating func interrupt(_ gap: EvidenceGap, _ body: (Evidence) -> Void) {
    var complete: [Evidence] = []
    fold.interrupt(gap) { complete.append($0) }
    for evidence in complete { take(evidence, body) }
  }

  /// The number of other ends before the one to explain, including one that it settles.
  var otherEnds: UInt64 {
    if case .end? = found?.subject { endsBefore } else { 0 }
  }

  /// Passes on what remains to be explained; returns the present session if nothing ended.
  mutating func finish(damagedAt offset: UInt64?, _ body: (Evidence) -> Void) -> Evidence? {
    var complete: [Evidence] = []
    let open = fold.finish(damagedAt: offset) { complete.append($0) }
    for evidence in complete { take(evidence, body) }
    if isAll { return ends > 0 ? nil : open }
    guard let found else { return target == nil ? open : asOf ?? open }
    body(found)
    return nil
  }
}
