@_spi(Internals) package import SessionCore

/// Finds what `why` explains in one pass: every end, the last end, or the state at a record.
package struct WhySearch {
  package let target: UInt64?
  private let isAll: Bool
  private var fold: EvidenceFold
  private var found: Evidence?
  /// The evidence about the session at the target.
  private var asOf: Evidence?
  /// The number of ends that were found, and of those up to the record to explain.
  private var ends: UInt64 = 0
  private var endsBefore: UInt64 = 0
  /// The newest ends.
  private var newest: [Evidence] = []
  /// The record that ended the pass, because it cannot be folded.
  package private(set) var fault: Fault?
  /// The first record that the state before it does not allow; such records are left out.
  package private(set) var impossible: Fault?
  /// The sequence of the last record that was folded or left out.
  package private(set) var last: UInt64 = 0
  /// The sequence of the last record that a compaction removed; 0 if there is none.
  package private(set) var compacted: UInt64 = 0
  /// The offset of the record at which the answer was known; later records only add later ends.
  package private(set) var knownAt: UInt64?

  /// A record that cannot be folded, and its place.
  package struct Fault: Sendable {
    package let failure: SessionFold.Failure
    package let sequence: UInt64
    /// The place, in bytes from the beginning of the file.
    package let offset: UInt64
  }

  package init(target: UInt64? = nil, isAll: Bool = false) {
    self.target = target
    self.isAll = isAll
    fold = EvidenceFold(watching: target)
  }

  /// Creates a search for the last end that continues where the newest ends begin.
  init(continuing fold: EvidenceFold, after last: UInt64, ends: UInt64) {
    self.init()
    self.fold = fold
    self.last = last
    (self.ends, endsBefore) = (ends, ends)
  }

  /// Takes the next record; returns whether the search needs another one.
  ///
  /// It passes on each end if all are to be explained.
  package mutating func take(
    _ record: SessionRecord, endsBatch: Bool, offset: UInt64, _ body: (Evidence) -> Void
  ) -> Bool {
    if let target, record.sequence > target {
      if asOf == nil { asOf = fold.open }
      if asOf != nil, !fold.isWaiting, knownAt == nil { knownAt = offset }
    }
    if last == 0, case .snapshot = record.content { compacted = record.sequence }
    var complete: [Evidence] = []
    do throws(SessionFold.Failure) {
      try fold.take(record, endsBatch: endsBatch) { complete.append($0) }
    } catch {
      let found = Fault(failure: error, sequence: record.sequence, offset: offset)
      guard case .illegal = error else {
        if knownAt == nil { fault = found }
        return false
      }
      // The true state is unknown here, as it is after lost records.
      if knownAt == nil { impossible = impossible ?? found }
      interrupt(EvidenceGap(of: record.sequence, at: offset, after: last), body)
      last = record.sequence
      return true
    }
    last = record.sequence
    for evidence in complete { take(evidence, body) }
    return true
  }

  private mutating func take(_ evidence: Evidence, _ body: (Evidence) -> Void) {
    switch evidence.subject {
    case .end(let fact):
      if !isAll, evidence.settlesExpiry, !isAsked(evidence) {
        // `ends` has no row for it either. What followed it, followed the expiry.
        guard target.map({ fact.batch <= $0 }) ?? true, let expiry = evidence.root.first?.place,
          found?.place == expiry
        else { return }
        found?.aftermath += evidence.aftermath
        found?.gapsAfter += evidence.gapsAfter
        found?.damagedAt = evidence.damagedAt
        return
      }
      ends += 1
      if isAll { return body(evidence) }
      newest.append(evidence, keeping: Self.keptEnds)
      if let target, fact.batch > target { return }
      endsBefore += 1
      if case .record? = found?.subject { return }
      found = evidence
    case .record:
      found = evidence
    case .open:
      break
    }
  }

  /// Whether the record to explain is in the batch of the end.
  private func isAsked(_ end: Evidence) -> Bool {
    guard let target, let place = end.place else { return false }
    return target >= place.batch && target <= end.batch.last?.sequence ?? place.sequence
  }

  /// Notes that records are missing; passes on each end if all are to be explained.
  package mutating func interrupt(_ gap: EvidenceGap, _ body: (Evidence) -> Void) {
    var complete: [Evidence] = []
    fold.interrupt(gap) { complete.append($0) }
    for evidence in complete { take(evidence, body) }
  }

  /// The most other ends that an answer names.
  private static let namedEnds = 5

  /// The number of the newest ends that an answer may need.
  ///
  /// Apart from the named ones, it is the end to explain and its expiry.
  static let keptEnds = namedEnds + 2

  /// Adds the other ends of the journal to an explanation, after all records were taken.
  ///
  /// An end that it settles is explained below it, so it is no other end. `endsBefore` counts that
  /// end, unless damage lies between the two.
  package func addOthers(to explanation: inout Explanation) {
    let own = (explanation.root + [explanation]).map(\.sequence)
    let isEnd = explanation.cause.class == .end
    let settled = UInt64(explanation.root.count) + (isEnd ? 1 : 0)
    explanation.others.before = endsBefore - min(endsBefore, settled)
    explanation.others.after = ends - endsBefore
    explanation.others.newest = newest.reversed().map(Explainer.judge)
      .filter { !own.contains($0.sequence) }
    explanation.others.newest.removeLast(max(0, explanation.others.newest.count - Self.namedEnds))
  }

  /// Passes on what remains to be explained; returns the present session if nothing ended.
  package mutating func finish(damagedAt offset: UInt64?, _ body: (Evidence) -> Void)
    -> Evidence?
  {
    var complete: [Evidence] = []
    let open = fold.finish(damagedAt: offset) { complete.append($0) }
    for evidence in complete { take(evidence, body) }
    if isAll { return ends > 0 ? nil : open }
    guard let found else { return target == nil ? open : asOf ?? open }
    body(found)
    return nil
  }
}
