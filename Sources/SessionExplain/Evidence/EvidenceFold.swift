@_spi(Internals) package import SessionCore

/// A fold of a journal's records that results in the evidence of each end of a session.
///
/// Its size is bounded: it has some 100 records, without texts of arbitrary length from servers.
package struct EvidenceFold: Sendable {
  /// The fold of all records so far.
  package private(set) var fold = SessionFold()
  /// The sequence of a record to explain in addition to the ends.
  private let watched: UInt64?

  // The session so far.
  private var firstSequence: UInt64 = 1
  private var login: Fact?
  /// The user of the session.
  private(set) var user: Identifier?
  /// The version of the app that last opened the journal, and its platform.
  private(set) var app: AppVersion?
  private(set) var platform: Platform?
  private var token: TokenHistory?
  private var earlier = EarlierTokens()
  private var openings: [Fact] = []
  private var processes = ProcessTrail()
  private var remarks: [Fact] = []
  private var storage = StorageTrail()
  private var clock = ClockTrail()
  private var schedule = ScheduleTrail()
  private var stray: Fact?
  private var continued: Fact?
  private var isWhole = true
  private var hasDoubtfulCut = false
  private var gaps: [EvidenceGap] = []
  /// Whether only a record after a gap shows the current session.
  private(set) var isAssumed = false
  private var lostEnd: Fact?
  private var last: Fact?

  // The batch that is being read.
  private var batch: [Fact] = []
  private var batchStart: UInt64 = 0
  private var isInBatch = false
  private var opening: Fact?
  private var lostInBatch: [UInt64] = []
  private var ending: (before: SessionState.Kind, last: Fact)?
  /// The last record of a batch that contained an end.
  private var lastDecided: UInt64 = 0
  private var watchedFact: Fact?
  private var lastBefore: Fact?

  // Evidence that waits for the records after it.
  private var pendingEnd: Evidence?
  private var pendingRecord: Evidence?
  private var expiry: Evidence?

  /// Creates a fold that delivers each end, and the record `watched` if it can be explained on its own.
  package init(watching watched: UInt64? = nil) {
    self.watched = watched
  }

  /// Folds the next record, and delivers the evidence that is complete now.
  ///
  /// `endsBatch` is `true` for the last record of a batch. If the record cannot be folded, it
  /// throws, and the fold does not change.
  package mutating func take(
    _ record: SessionRecord, endsBatch: Bool, _ body: (Evidence) -> Void
  ) throws(SessionFold.Failure) {
    // Batches are complete, so a gap in the sequences is a watermark that ended the batch.
    let ended = isInBatch && record.sequence != (last?.sequence ?? 0) + 1 ? fold : nil
    let before = try apply(record)
    if let ended {
      // The state after that batch is the one before this record.
      let later = fold
      fold = ended
      endBatch(body)
      fold = later
    }
    if !isInBatch { beginBatch(at: record.sequence) }
    let fact = Fact(record, batch: batchStart)
    clock.take(record)
    keepInBatch(fact)
    keepBehind(fact, body)
    switch record.content {
    case .event(let event): take(event, fact, before, body)
    case .note(let note): take(note, fact)
    case .snapshot(let snapshot): take(snapshot, fact)
    case .unknown:
      isWhole = false
      // The record may have been a request.
      token?.isWhole = false
      earlier.isWhole = false
    }
    if record.sequence == watched { watchedFact = fact }
    last = fact
    isInBatch = !endsBatch
    if !isInBatch { endBatch(body) }
  }

  /// Takes a record of an earlier session, which may be evidence of later ones.
  ///
  /// A fold that takes only these records and then continues with ``continued(after:)`` equals one
  /// that takes all of them, from the second login on. `batch` is the first sequence of its batch.
  mutating func takeAlone(_ record: SessionRecord, batch: UInt64) {
    let fact = Fact(record, batch: batch)
    clock.take(record)
    switch record.content {
    case .note(let note): take(note, fact)
    case .snapshot(let snapshot): take(snapshot, fact)
    case .event, .unknown: break
    }
  }

  /// Returns a fold that continues between two batches, after all records of this fold.
  func continued(after fold: SessionFold) -> EvidenceFold {
    var continued = self
    continued.fold = fold
    return continued
  }

  /// Notes that records are missing here, and continues after them.
  ///
  /// Their content is unknown. A token may have been used and replaced. The session may have ended,
  /// and another may have begun. Only the records after the gap are certain, above all a login.
  package mutating func interrupt(_ gap: EvidenceGap, _ body: (Evidence) -> Void) {
    if isInBatch { endBatch(body) }
    pendingEnd?.gapsAfter.append(gap)
    pendingRecord?.gapsAfter.append(gap)
    gaps.append(gap, keeping: Evidence.keptOpenings)
    token?.isWhole = false
    earlier.isWhole = false
    // Another user may have logged in, and another version of the app may have opened the journal.
    (user, app, platform) = (nil, nil, nil)
    (opening, lostInBatch, stray) = (nil, [], nil)
    (processes, clock, schedule) = (.unknown, ClockTrail(), ScheduleTrail())
    storage.interrupt()
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
    var open = evidence(.open(last: last))
    open.before = fold.kind
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

  // MARK: Gaps

  /// Folds the record, and returns the state before it.
  private mutating func apply(_ record: SessionRecord) throws(SessionFold.Failure)
    -> SessionState.Kind
  {
    let (before, isAssumed) = try GappedFold.apply(
      record, to: &fold, afterGap: !gaps.isEmpty)
    if isAssumed { (login, user, self.isAssumed) = (nil, nil, true) }
    return before
  }

  /// Starts the history of a token whose announcement must be among the missing records.
  private mutating func meet(_ generation: Generation, at time: Timestamp) {
    guard !gaps.isEmpty, generation > token?.generation ?? .none else { return }
    if let token { earlier.add(token) }
    earlier.isWhole = false
    token = TokenHistory.lost(generation, at: time)
  }

  /// Records a note about the end of the current token; after a gap it proves that an end is lost.
  private mutating func noteEnd(of generation: Generation, _ fact: Fact) {
    guard !gaps.isEmpty, fold.kind == .authenticated,
      generation >= fold.state.token?.generation ?? .none
    else { return }
    lostEnd = fact
  }

  // MARK: Batches

  private mutating func beginBatch(at sequence: UInt64) {
    batchStart = sequence
    lastBefore = last
    // The memory is kept, since this happens for each batch.
    batch.removeAll(keepingCapacity: true)
    lostInBatch.removeAll(keepingCapacity: true)
    opening = nil
  }

  private mutating func keepInBatch(_ fact: Fact) {
    if batch.count == Evidence.keptBatch {
      // Records that decide nothing are removed first, then repeated kinds; there are fewer kinds
      // than places.
      let names = batch.map(\.record.name)
      let index =
        batch.firstIndex { !$0.isDecisive }
        ?? names.indices.first { names[($0 + 1)...].contains(names[$0]) }
      batch.remove(at: index ?? Evidence.keptBatch / 2)
    }
    batch.append(fact)
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

  private mutating func endBatch(_ body: (Evidence) -> Void) {
    isInBatch = false
    if ending != nil { endSession(body) }
    guard let fact = watchedFact else { return }
    watchedFact = nil
    // A record with an end, or in a batch with one, is explained as that end.
    guard fact.isExplainable, fact.sequence > lastDecided else { return }
    pendingRecord = evidence(.record(fact))
  }

  /// Builds the evidence of the batch's end of a session.
  private mutating func endSession(_ body: (Evidence) -> Void) {
    guard let ending else { return }
    if let pendingEnd { body(pendingEnd) }
    var found = evidence(.end(ending.last))
    found.before = ending.before
    if ending.before == .expired, var expiry {
      expiry.aftermath = []
      found.root = [expiry]
    }
    expiry = fold.kind == .expired ? found : nil
    pendingEnd = found
    lastDecided = batch.last?.sequence ?? ending.last.sequence
    self.ending = nil
    stray = nil
  }

  private func evidence(_ subject: Evidence.Subject) -> Evidence {
    var evidence = Evidence(
      subject: subject, after: fold, firstSequence: firstSequence, processes: processes,
      clock: clock, schedule: schedule)
    evidence.batch = batch
    evidence.login = login
    (evidence.user, evidence.app, evidence.platform) = (user, app, platform)
    (evidence.token, evidence.earlier) = (token, earlier)
    (evidence.openings, evidence.remarks) = (openings, remarks)
    evidence.storage = storage
    evidence.lastBefore = lastBefore
    (evidence.stray, evidence.continued) = (stray, continued)
    (evidence.isWhole, evidence.hasDoubtfulCut) = (isWhole, hasDoubtfulCut)
    (evidence.gaps, evidence.isAssumed, evidence.lostEnd) = (gaps, isAssumed, lostEnd)
    return evidence
  }

  // MARK: Events

  private mutating func take(
    _ event: SessionEvent, _ fact: Fact, _ before: SessionState.Kind, _ body: (Evidence) -> Void
  ) {
    switch event {
    case .login(let login):
      begin(with: login, fact, body)
    case .refreshSucceeded(let refresh):
      end(fact)
      announce(refresh.token, fact)
    case .refreshFailed(let refresh):
      meet(refresh.generation, at: fact.time)
      end(fact)
      token?.count(fact)
    case .contextSwitched(let change):
      guard let newer = change.token else { return }
      end(fact)
      announce(newer, fact)
    case .sessionExpired, .logout:
      ending = (ending?.before ?? before, fact)
      lostEnd = nil
    }
  }

  private mutating func begin(
    with login: SessionEvent.Login, _ fact: Fact, _ body: (Evidence) -> Void
  ) {
    // The batch can have an end, and after it the login of the next session.
    if ending != nil {
      endSession(body)
      pendingEnd?.aftermath = [fact]
    }
    if let pendingEnd { body(pendingEnd) }
    (pendingEnd, expiry, stray) = (nil, nil, nil)
    self.login = fact
    user = login.user
    (hasDoubtfulCut, gaps, isAssumed, lostEnd) = (false, [], false, nil)
    remarks.removeAll { $0.batch != batchStart }
    storage.restart(keeping: batchStart)
    clock.restart()
    schedule = ScheduleTrail()
    earlier = EarlierTokens()
    // Adopted tokens belonged to the app's old layer, which may still use them.
    token = TokenHistory(login.token, announced: fact, isWhole: login.method != .adoption)
  }

  private mutating func announce(_ newer: TokenMetadata, _ fact: Fact) {
    // If a token was recovered, or a generation is skipped, records are missing.
    let isRecovered = batch.contains { $0.recovered == newer.generation }
    let isNext = newer.generation == token?.generation.next
    if let token { earlier.add(token) }
    if token == nil {
      token = TokenHistory(newer, announced: fact, isWhole: isNext && !isRecovered)
    } else {
      token?.restart(newer, announced: fact, isWhole: isNext && !isRecovered)
    }
  }

  /// Records the end of the request that the fact names.
  private mutating func end(_ fact: Fact) {
    let (opening, processes) = (opening, processes)
    token?.end(fact, among: processes) { $0.loss(notedBy: fact, in: opening, processes) }
    // A request that was presumed lost with the token before may end late.
    earlier.end(fact)
    if let number = fact.answers, let failure = fact.failure, RequestTrace.isNoAnswer(failure) {
      lostInBatch.append(number)
    }
  }

  // MARK: Notes

  private mutating func take(_ note: SessionNote, _ fact: Fact) {
    switch note {
    case .opened(let opened):
      opening = fact
      (app, platform) = (opened.app, opened.platform)
      storage.open(opened, isBesideOthers: processes.isTooMany || !processes.living.isEmpty)
      processes.open(opened, fact)
      openings.append(fact, keeping: Evidence.keptOpenings)
    case .closed:
      processes.close(fact)
      openings.append(fact, keeping: Evidence.keptOpenings)
    case .tailCut(let cut):
      // A request may be among the acknowledged records that are gone.
      if cut.isUndetermined {
        token?.isWhole = false
        earlier.isWhole = false
        hasDoubtfulCut = true
      }
      remark(fact)
    case .requestSent(let sent):
      send(sent, fact)
    case .requestEnded, .answerUnused:
      end(fact)
    case .secretsWiped:
      if fold.kind == .unauthenticated { stray = fact }
      remark(fact)
    case .continued:
      continued = fact
      remark(fact)
    case .tokenRecovered, .itemUnreadable:
      remark(fact)
    case .answerDropped:
      token?.drop(fact)
      remark(fact)
    case .storageFailed, .storageRecovered:
      storage.take(fact)
      token?.write(fact, among: processes)
    case .revocationPending(let generation):
      noteEnd(of: generation, fact)
    case .revocationSettled(let settled):
      noteEnd(of: settled.generation, fact)
    // No evidence of an end.
    default: break
    }
  }

  private mutating func send(_ sent: SessionNote.RequestSent, _ fact: Fact) {
    meet(sent.generation, at: fact.time)
    guard let facts = token?.facts, sent.generation == facts.generation else { return }
    // A process that presumes a request lost and sends the next one in the same batch has replaced
    // its sender.
    for number in lostInBatch where opening == nil {
      token?.lose(number) { request in
        if case .lost(.restarted(let taker)) = request.fate { return .restarted(by: taker) }
        guard let before = request.sent.requestSent, let end = request.end,
          !Opener(before).mayBe(Opener(sent))
        else { return .unnoted }
        let taker = RequestTrace.Taker(fact: fact)
        // A time before that of the request cannot be compared with its deadline.
        guard end.time >= request.sent.time else { return .taken(by: taker) }
        return end.time < before.deadline ? .gone(by: taker) : .overtaken(by: taker)
      }
    }
    schedule.take(fact, of: facts)
    var request = RequestTrace(sent: fact)
    request.boot = processes.boot
    request.life = processes.opening(of: Opener(sent))
    request.isCertain = processes.isCertain(Opener(sent))
    token?.send(request)
  }

  private mutating func remark(_ fact: Fact) { remarks.append(fact, keeping: 8) }

  // MARK: Snapshots

  private mutating func take(_ snapshot: SessionFold, _ fact: Fact) {
    firstSequence = fact.sequence == .max ? .max : fact.sequence + 1
    (login, stray, expiry, continued, lostEnd) = (nil, nil, nil, nil, nil)
    // A snapshot does not name the app. What was read before it stays known.
    user = snapshot.state.user
    earlier = .unknown
    (openings, remarks, processes) = ([], [], .unknown)
    (clock, schedule, hasDoubtfulCut) = (ClockTrail(), ScheduleTrail(), false)
    storage = StorageTrail()
    token = TokenHistory(snapshot.state)
    if let request = snapshot.intents.request, request.sent.generation == token?.generation {
      // The time of sending is not known any more, and no answer shows it.
      let sent = SessionRecord(
        sequence: request.sequence, time: fact.time, content: .note(.requestSent(request.sent)))
      token?.send(RequestTrace(sent: Fact(sent, batch: request.sequence)))
    }
    batch = []
  }
}
