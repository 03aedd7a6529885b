@_spi(Internals) package import SessionCore

/// A fold of a journal's records that results in the evidence of each end of a session.
///
/// Its size is bounded: it has a trail and two pieces of evidence.
package struct EvidenceFold: Sendable {
  private(set) var trail = SessionTrail()
  /// The sequence of a record to explain in addition to the ends.
  private let watched: UInt64?
  /// The last record.
  private var last: Fact?

  // The batch that is being read.
  private var batch = BatchTrail()
  private var isInBatch = false
  private var ending: (before: SessionState.Kind, last: Fact)?
  private var watchedFact: Fact?
  /// The last record of a batch that contained an end.
  private var lastDecided: UInt64 = 0

  // Evidence that waits for the records after it.
  private var pendingEnd: Evidence?
  private var pendingRecord: Evidence?
  private var expiry: Evidence?

  /// Creates a fold that delivers each end, and the record `watched` if it can be explained on its own.
  package init(watching watched: UInt64? = nil) {
    self.watched = watched
  }

  /// Creates a fold that continues between two batches, after the records of the trail.
  init(continuing trail: SessionTrail) {
    self.init()
    self.trail = trail
  }

  /// Folds the next record, and delivers the evidence that is complete now.
  ///
  /// `endsBatch` is `true` for the last record of a batch. If the record cannot be folded, it
  /// throws, and the fold does not change.
  package mutating func take(
    _ record: SessionRecord, endsBatch: Bool, _ body: (Evidence) -> Void
  ) throws(SessionFold.Failure) {
    // Batches are complete, so a gap in the sequences is a watermark that ended the batch.
    if isInBatch, record.sequence != (last?.sequence ?? 0) + 1 {
      var later = trail
      _ = try later.apply(record)
      endBatch(body)
    }
    let before = try trail.apply(record)
    if !isInBatch { batch.begin(at: record.sequence, after: last) }
    let fact = Fact(record, batch: batch.start)
    take(record.content, fact, before, body)
    if record.sequence == watched { watchedFact = fact }
    last = fact
    isInBatch = !endsBatch
    if !isInBatch { endBatch(body) }
  }

  // A function of its own: a switch over `record.content` copies the record (Swift 6.3), and one over
  // a parameter does not.
  private mutating func take(
    _ content: SessionRecord.Content, _ fact: Fact, _ before: SessionState.Kind,
    _ body: (Evidence) -> Void
  ) {
    batch.take(content, fact)
    keepBehind(fact, body)
    switch content {
    case .event(.login): begin(fact, body)
    case .event(.sessionExpired), .event(.logout): ending = (ending?.before ?? before, fact)
    case .snapshot: expiry = nil
    case .event, .note, .unknown: break
    }
    trail.take(content, fact, in: batch)
  }

  /// Notes that records are missing here, and continues after them.
  package mutating func interrupt(_ gap: EvidenceGap, _ body: (Evidence) -> Void) {
    if isInBatch { endBatch(body) }
    pendingEnd?.gapsAfter.append(gap)
    pendingRecord?.gapsAfter.append(gap)
    batch.interrupt()
    trail.interrupt(gap)
  }

  /// Delivers the evidence that still waits, and returns the evidence of the current session.
  package mutating func finish(damagedAt offset: UInt64? = nil, _ body: (Evidence) -> Void)
    -> Evidence
  {
    if isInBatch { endBatch(body) }
    for waiting in [pendingEnd, pendingRecord] {
      guard var waiting else { continue }
      waiting.damagedAt = offset
      body(waiting)
    }
    (pendingEnd, pendingRecord) = (nil, nil)
    var open = Evidence(.open(last: last), of: trail, in: batch, before: trail.fold.kind)
    open.damagedAt = offset
    return open
  }

  /// The evidence of the current session if no record follows; `nil` within a batch.
  package var open: Evidence? {
    guard !isInBatch else { return nil }
    var copy = self
    return copy.finish { _ in }
  }

  /// Whether more records may add evidence about the watched record, or about an end up to it.
  package var isWaiting: Bool {
    guard let watched else { return true }
    let isEarly = pendingEnd?.place.map { $0.batch <= watched } ?? false
    return isInBatch || isEarly || pendingRecord != nil
  }

  private mutating func keepBehind(_ fact: Fact, _ body: (Evidence) -> Void) {
    // Changed in place: a copy of evidence for each record would take most of the time.
    if let kept = pendingEnd?.aftermath.count, fact.batch != pendingEnd?.place?.batch {
      // The next login is kept, regardless of the number of records before it.
      if kept < Evidence.keptBehind || fact.isLogin { pendingEnd?.aftermath.append(fact) }
    }
    guard var waiting = pendingRecord else { return }
    if let generation = waiting.revocation {
      // The outcome of the revocation may be far after the record.
      waiting.keepRevocation(of: generation, fact)
      pendingRecord = waiting
      return
    }
    waiting.aftermath.append(fact)
    pendingRecord = waiting.aftermath.count < Evidence.keptBehind ? waiting : nil
    if pendingRecord == nil { body(waiting) }
  }

  /// Ends the session before a login, which is the last record.
  private mutating func begin(_ login: Fact, _ body: (Evidence) -> Void) {
    // The batch can have an end, and after it the login of the next session.
    if ending != nil {
      endSession(body)
      pendingEnd?.aftermath = [login]
    }
    if let pendingEnd { body(pendingEnd) }
    (pendingEnd, expiry) = (nil, nil)
  }

  private mutating func endBatch(_ body: (Evidence) -> Void) {
    isInBatch = false
    if ending != nil { endSession(body) }
    guard let fact = watchedFact else { return }
    watchedFact = nil
    // A record with an end, or in a batch with one, is explained as that end.
    guard fact.isExplainable, fact.sequence > lastDecided else { return }
    pendingRecord = Evidence(.record(fact), of: trail, in: batch)
  }

  /// Builds the evidence of the batch's end of a session.
  private mutating func endSession(_ body: (Evidence) -> Void) {
    guard let ending else { return }
    if let pendingEnd { body(pendingEnd) }
    var found = Evidence(.end(ending.last), of: trail, in: batch, before: ending.before)
    if ending.before == .expired, var expiry {
      expiry.aftermath = []
      found.root = [expiry]
    }
    expiry = trail.fold.kind == .expired ? found : nil
    pendingEnd = found
    lastDecided = batch.records.last?.sequence ?? ending.last.sequence
    self.ending = nil
    trail.stray = nil
  }
}
