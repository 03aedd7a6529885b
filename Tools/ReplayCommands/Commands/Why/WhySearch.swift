@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// Finds what `why` is to explain, in one pass: each end, the last one, or what stands at a record.
struct WhySearch {
  let target: UInt64?
  private let isAll: Bool
  private var fold: EvidenceFold
  private var found: Evidence?
  /// The session as it stood at the target.
  private var asOf: Evidence?
  /// How many ends were found, and how many of them come before the one that is explained.
  private var ends: UInt64 = 0
  private var endsBefore: UInt64 = 0
  /// Why the pass ended that is not the file's fault but the records'.
  private(set) var fault: JournalFault?
  /// The first record that the state before it does not allow: it is left out.
  private(set) var impossible: JournalFault?
  /// The last record that was folded, or left out.
  private(set) var last: UInt64 = 0
  /// The last record that a compaction took away; 0 for none.
  private(set) var compacted: UInt64 = 0
  /// Whether all that is asked for is known before the end of the file.
  private(set) var isOver = false

  init(target: UInt64? = nil, isAll: Bool = false) {
    self.target = target
    self.isAll = isAll
    fold = EvidenceFold(watching: target)
  }

  /// Takes in the next record, and says whether another one is wanted.
  ///
  /// Hands over each end where all are asked for.
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
      // What the state truly was is not known: as after records that are lost.
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

  /// Takes note that records are missing; hands over each end where all are asked for.
  mutating func interrupt(_ gap: EvidenceGap, _ body: (Evidence) -> Void) {
    var complete: [Evidence] = []
    fold.interrupt(gap) { complete.append($0) }
    for evidence in complete { take(evidence, body) }
  }

  /// How many other ends come before the one that is explained, the one that it settles among them.
  var otherEnds: UInt64 {
    if case .end? = found?.subject { endsBefore } else { 0 }
  }

  /// Hands over what is left to explain; returns the session as it stands where nothing ended.
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
