@_spi(Internals) package import SessionCore

/// What the records of a journal show about the session so far.
///
/// Its size is bounded: it has some 100 records, without texts of arbitrary length from servers.
struct SessionTrail: Sendable {
  /// The fold of all records so far.
  var fold = SessionFold()
  /// The first record of the file apart from a snapshot; above 1 if the file was compacted.
  private(set) var firstSequence: UInt64 = 1
  /// The login that began the session; `nil` if the file does not have it.
  private(set) var login: Fact?
  private(set) var device = SessionDevice()
  private(set) var tokens = TokenTrail()
  /// The last openings and closings.
  private(set) var openings: [Fact] = []
  private(set) var processes = ProcessTrail()
  /// The notes of openings in this session about what they found.
  private(set) var remarks: [Fact] = []
  private(set) var storage = StorageTrail()
  private(set) var clock = ClockTrail()
  private(set) var schedule = ScheduleTrail()
  /// The note about wiped secrets while no user was logged in.
  var stray: Fact?
  /// The last note that the server needs the user.
  private(set) var need: Fact?
  /// The note that began the lock; meaningless if the session is not locked.
  private(set) var lock: Fact?
  /// The last note that says how long the server keeps a refresh token.
  private(set) var refreshTokenLife: Fact?
  /// The last note that the server bound the tokens to a key.
  private(set) var bound: Fact?
  /// The note that the journal continues another one.
  private(set) var continued: Fact?
  private(set) var losses = LossTrail()

  static let keptOpenings = 8
  static let keptRemarks = 8

  /// The last record that a compaction removed; `nil` if the file has all records.
  var compactedBefore: UInt64? { firstSequence > 1 ? firstSequence - 1 : nil }

  /// The first record of the session in the file.
  var start: UInt64 { login?.sequence ?? firstSequence }

  /// Folds the record, and returns the state before it; if it throws, nothing changes.
  mutating func apply(_ record: SessionRecord) throws(SessionFold.Failure) -> SessionState.Kind {
    let (before, isAssumed) = try GappedFold.apply(
      record, to: &fold, afterGap: !losses.gaps.isEmpty)
    if isAssumed {
      (login, device.user) = (nil, nil)
      losses.isAssumed = true
    }
    clock.take(record)
    return before
  }

  /// Takes a record that the fold has taken; `batch` has it and the records before it in its batch.
  mutating func take(_ content: SessionRecord.Content, _ fact: Fact, in batch: BatchTrail) {
    switch content {
    case .event(let event): take(event, fact, in: batch)
    case .note(let note): take(note, fact, in: batch)
    case .snapshot(let snapshot): take(snapshot, fact)
    case .unknown:
      losses.isWhole = false
      // The record may have been a request.
      tokens.doubt()
    }
  }

  /// Takes a record of an earlier session, which may be evidence of later ones.
  ///
  /// After these records alone, the trail of a later session is the same as after all of them.
  mutating func takeAlone(_ record: SessionRecord, batch: UInt64) {
    clock.take(record)
    if record.event == nil {
      take(record.content, Fact(record, batch: batch), in: BatchTrail())
    }
  }

  /// Notes that records are missing here.
  ///
  /// Their content is unknown. A token may have been used and replaced. The session may have ended,
  /// and another may have begun. Only the records after the gap are certain, above all a login.
  mutating func interrupt(_ gap: EvidenceGap) {
    losses.gaps.append(gap, keeping: Self.keptOpenings)
    tokens.doubt()
    // Another user may have logged in, and another version of the app may have opened the journal.
    device = SessionDevice()
    (processes, clock, schedule, stray) = (.unknown, ClockTrail(), ScheduleTrail(), nil)
    storage.interrupt()
  }

  // MARK: Events

  private mutating func take(_ event: SessionEvent, _ fact: Fact, in batch: BatchTrail) {
    switch event {
    case .login(let login): begin(with: login, fact, in: batch)
    case .refreshSucceeded(let refresh):
      if refresh.trigger == .reauthentication { refreshTokenLife = nil }
      announce(refresh.token, fact, in: batch)
    case .refreshFailed(let refresh):
      meet(refresh.generation, at: fact.time)
      tokens.end(fact, in: batch, processes)
      tokens.current?.count(fact)
    case .contextSwitched(let change):
      if let newer = change.token { announce(newer, fact, in: batch) }
    case .sessionExpired, .logout: losses.end = nil
    }
  }

  private mutating func begin(
    with login: SessionEvent.Login, _ fact: Fact, in batch: BatchTrail
  ) {
    (self.login, refreshTokenLife, bound) = (fact, nil, nil)
    device.user = login.user
    (losses, stray) = (LossTrail(isWhole: losses.isWhole), nil)
    remarks.removeAll { $0.batch != batch.start }
    storage.restart(keeping: batch.start)
    clock.restart()
    schedule = ScheduleTrail()
    // Adopted tokens belonged to the app's old layer, which may still use them.
    tokens = TokenTrail(
      TokenHistory(login.token, announced: fact, isWhole: login.method != .adoption))
  }

  private mutating func announce(_ newer: TokenMetadata, _ fact: Fact, in batch: BatchTrail) {
    tokens.end(fact, in: batch, processes)
    tokens.announce(newer, fact, isRecovered: batch.has(recovered: newer.generation))
  }

  // The announcement of a newer token must be among the missing records.
  private mutating func meet(_ generation: Generation, at time: Timestamp) {
    if !losses.gaps.isEmpty { tokens.meet(generation, at: time) }
  }

  // MARK: Notes

  private mutating func take(_ note: SessionNote, _ fact: Fact, in batch: BatchTrail) {
    switch note {
    case .opened(let opened):
      (device.app, device.platform) = (opened.app, opened.platform)
      storage.open(opened, isBesideOthers: processes.isTooMany || !processes.living.isEmpty)
      processes.open(opened, fact)
      openings.append(fact, keeping: Self.keptOpenings)
    case .closed:
      processes.close(fact)
      openings.append(fact, keeping: Self.keptOpenings)
    case .tailCut(let cut):
      // A request may be among the acknowledged records that are gone.
      if cut.isUndetermined {
        tokens.doubt()
        losses.hasDoubtfulCut = true
      }
      remark(fact)
    case .requestSent(let sent):
      meet(sent.generation, at: fact.time)
      guard let token = tokens.current?.facts, sent.generation == token.generation else { return }
      schedule.take(fact, of: token)
      tokens.send(sent, fact, in: batch, processes)
    case .requestEnded, .answerUnused:
      tokens.end(fact, in: batch, processes)
    case .secretsWiped:
      if fold.kind == .unauthenticated { stray = fact }
      remark(fact)
    case .userNeeded: need = fact
    case .refreshTokenLife: refreshTokenLife = fact
    case .tokensBound: bound = fact
    // A lock that lasts is noted again.
    case .locked: if fold.intents.lock?.since == fact.time { lock = fact }
    case .continued:
      continued = fact
      remark(fact)
    case .tokenRecovered, .itemUnreadable:
      remark(fact)
    case .answerDropped:
      tokens.current?.drop(fact)
      remark(fact)
    case .storageFailed, .storageRecovered:
      storage.take(fact)
      tokens.current?.write(fact, among: processes)
    case .revocationPending(let generation):
      noteEnd(of: generation, fact)
    case .revocationSettled(let settled):
      noteEnd(of: settled.generation, fact)
    // No evidence of an end.
    default: break
    }
  }

  // After a gap, a note about the end of the current token proves that an end is lost.
  private mutating func noteEnd(of generation: Generation, _ fact: Fact) {
    guard !losses.gaps.isEmpty, fold.kind == .authenticated,
      generation >= fold.tokenGeneration ?? .none
    else { return }
    losses.end = fact
  }

  private mutating func remark(_ fact: Fact) { remarks.append(fact, keeping: Self.keptRemarks) }

  // MARK: Snapshots

  private mutating func take(_ snapshot: SessionFold, _ fact: Fact) {
    // A snapshot does not name the app. What was read before it stays known.
    let (app, platform, losses) = (device.app, device.platform, losses)
    let fold = fold
    self = SessionTrail()
    self.fold = fold
    firstSequence = fact.sequence == .max ? .max : fact.sequence + 1
    device = SessionDevice(user: snapshot.state.user, app: app, platform: platform)
    self.losses = losses
    (self.losses.hasDoubtfulCut, self.losses.end) = (false, nil)
    processes = .unknown
    tokens = TokenTrail(snapshot, at: fact.time)
  }
}

/// The user of a session, and the app and the system of the last opening; `nil` if it is not known.
package struct SessionDevice: Equatable, Sendable {
  /// After lost records, it may be another user.
  package var user: Identifier?
  package var app: AppVersion?
  package var platform: Platform?

  package init(user: Identifier? = nil, app: AppVersion? = nil, platform: Platform? = nil) {
    (self.user, self.app, self.platform) = (user, app, platform)
  }

  /// Whether the system has no foreground and no lock screen.
  var isServer: Bool { platform == .linux || platform == .windows }
}

/// What is known of missing records since the login.
struct LossTrail: Sendable {
  /// Whether no record of a newer version was skipped.
  var isWhole = true
  /// Whether bytes were cut off that may have been acknowledged.
  var hasDoubtfulCut = false
  /// The last places at which records are missing.
  var gaps: [EvidenceGap] = []
  /// Whether only a record after a gap shows that a user was logged in.
  var isAssumed = false
  /// The note after a gap that concerns the end of the current token, if that end is lost.
  var end: Fact?
}

/// The batch that is being read, up to its last record so far.
struct BatchTrail: Sendable {
  /// Its records; if there are too many, the least important are omitted.
  private(set) var records: [Fact] = []
  /// The sequence of its first record.
  private(set) var start: UInt64 = 0
  /// The last record before it.
  private(set) var before: Fact?
  /// The last opening in it.
  private(set) var opening: Fact?
  /// The requests whose loss it notes.
  private(set) var lost: [UInt64] = []

  static let kept = 16

  /// Begins the next batch, after the record `last`.
  mutating func begin(at sequence: UInt64, after last: Fact?) {
    // The memory is kept, since this happens for each batch.
    records.removeAll(keepingCapacity: true)
    lost.removeAll(keepingCapacity: true)
    (start, before, opening) = (sequence, last, nil)
  }

  /// Takes the next record.
  mutating func take(_ content: SessionRecord.Content, _ fact: Fact) {
    switch content {
    case .note(.opened): opening = fact
    case .event(.refreshFailed), .note(.requestEnded):
      if let number = content.answers, content.failure.map(RequestTrace.isNoAnswer) == true {
        lost.append(number)
      }
    // A snapshot replaces what is before it.
    case .snapshot: return records.removeAll()
    default: break
    }
    if records.count == Self.kept { omitOne() }
    records.append(fact)
  }

  /// Forgets what the records before a gap say of those after it.
  mutating func interrupt() { (opening, lost) = (nil, []) }

  /// Returns whether it restored the missing event of this token.
  func has(recovered generation: Generation) -> Bool {
    records.contains { $0.recovered == generation }
  }

  // A record that decides nothing goes first, then a repeated kind; there are fewer kinds than places.
  private mutating func omitOne() {
    let names = records.map(\.record.name)
    let index =
      records.firstIndex { !$0.isDecisive }
      ?? names.indices.first { names[($0 + 1)...].contains(names[$0]) }
    records.remove(at: index ?? Self.kept / 2)
  }
}
