@_spi(Internals) internal import SessionCore

/// Decides a recorded journal again, batch by batch, with today's coordinator.
///
/// - Requirement: RPL-10
struct DecisionReplay: Sendable {
  /// The outcome of a batch.
  enum Outcome: Sendable {
    /// The script, given to this opening, results in exactly these records.
    case explained(opening: Int, InputScript)
    /// The inputs are proven, and today's decision is another one; `nil` for none.
    case differs(decided: [SessionRecord.Content]?)
    /// The journal does not prove what led to it.
    case undecided(Gap)
  }

  /// Why a batch cannot be decided again.
  enum Gap: String, CaseIterable, Sendable {
    /// A snapshot has replaced what was before.
    case compacted = "compacted"
    /// No opening is in the journal that may have written it.
    case noOpening = "noOpening"
    /// An opening that may have written it records no policy.
    case noPolicy = "noPolicy"
    /// No input that the journal proves leads to such records.
    case noInput = "noInput"
    /// An earlier decision of the same opening differs.
    case follows = "follows"
    /// This version does not know a record.
    case unknownRecord = "unknownRecord"
  }

  private(set) var openings: [ReplayedOpening] = []
  /// The openings that may still write, the newest first.
  private(set) var live: [Int] = []
  /// The last decision that was found to be the recorded one.
  private(set) var decision: SessionCommit?
  /// The fold of the recorded batches.
  private(set) var fold = SessionFold()
  private let journal: JournalProofs
  private let policies: OpeningPolicies
  private var items = StoredItems()
  /// Whether the journal begins with a snapshot.
  private var isCompacted = false
  /// The last use that a record proves.
  private var lastUse: Timestamp?
  /// The time of the last batch; `nil` before the first one.
  private var lastTime: Timestamp?

  init(_ journal: JournalProofs, _ policies: OpeningPolicies) {
    (self.journal, self.policies) = (journal, policies)
  }

  /// Decides a batch again; each batch must be passed, in order.
  mutating func take(_ batch: RecordedBatch) -> Outcome {
    let outcome = decide(batch)
    finish(batch, outcome)
    return outcome
  }

  private mutating func decide(_ batch: RecordedBatch) -> Outcome {
    for content in batch.contents {
      if case .snapshot = content { return .undecided(.compacted) }
      if case .unknown = content { return .undecided(.unknownRecord) }
    }
    if batch.opened != nil { return open(batch) }
    let candidates = writers(of: batch)
    guard !candidates.isEmpty else { return .undecided(.noOpening) }
    guard live.allSatisfy({ openings[$0].policy != nil }) else { return .undecided(.noPolicy) }
    var decided: [SessionRecord.Content]?
    var hasScript = false
    for index in candidates {
      let opening = openings[index]
      for script in scripts(for: batch, of: opening) {
        guard let (played, solved, isSame) = opening.explaining(batch, by: script) else {
          continue
        }
        if isSame {
          (openings[index], decision) = (played, played.decision)
          return .explained(opening: index, solved)
        }
        if script.proof != .consequence, index == candidates.first {
          hasScript = true
          decided = decided ?? played.decision?.contents
        }
      }
    }
    if candidates.contains(where: { openings[$0].isLost }) { return .undecided(.follows) }
    return hasScript ? .differs(decided: decided) : .undecided(.noInput)
  }

  /// The scripts for a batch; a decision that the opening has made already needs none.
  private func scripts(for batch: RecordedBatch, of opening: ReplayedOpening) -> [InputScript] {
    let facts = facts(of: batch, opening.note)
    let scripts = InputScript.scripts(
      for: batch, after: fold, facts: facts, isSwitching: journal.switching.contains(batch.first))
    guard opening.decision != nil else { return scripts }
    return [InputScript(.consequence, [])] + scripts
  }

  // MARK: Another policy

  /// Plays the script of a batch that another replay of the same journal has found.
  ///
  /// Returns the opening after it; `nil` if the opening cannot have these inputs. Call
  /// ``accept(_:by:_:)`` or end the replay.
  mutating func play(_ batch: RecordedBatch, by index: Int, _ script: InputScript)
    -> ReplayedOpening?
  {
    if batch.opened != nil {
      append(batch)
    } else if index == openings.count {
      begin(restored(at: batch.time, for: batch))
    }
    guard openings.indices.contains(index) else { return nil }
    return openings[index].playing(script, at: batch.time)
  }

  /// Makes the decision of a played opening durable.
  mutating func accept(_ batch: RecordedBatch, by index: Int, _ played: ReplayedOpening) {
    openings[index] = played
    finish(batch, .explained(opening: index, InputScript(.consequence, [])))
  }

  /// Follows a batch that no opening of the journal has decided.
  mutating func pass(_ batch: RecordedBatch, _ gap: Gap) { finish(batch, .undecided(gap)) }

  // MARK: Openings

  /// Begins the opening that a batch notes; it has read the records before.
  private mutating func append(_ batch: RecordedBatch) {
    guard let note = batch.opened else { return }
    var fold = fold
    if batch.isOpenedPlainly {
      // The command has checked that the records can be folded.
      do { try fold.apply(batch.records[0]) } catch { return }
    }
    begin(
      ReplayedOpening(
        note, at: batch.time,
        policy: policies.policy(of: note, timeout: journal.timeouts[note.process]), fold: fold,
        unsent: journal.unsent,
        continuesAnother: batch.contents.contains { $0.isOfOpening && $0.isLink }))
  }

  /// Adds an opening.
  ///
  /// Most processes end without closing, so only the last ones are followed.
  private mutating func begin(_ opening: ReplayedOpening) {
    openings.append(opening)
    live.insert(openings.count - 1, at: 0)
    if live.count > Self.mostLive { live.removeLast() }
  }

  /// How many openings that were not closed may write at the same time.
  static let mostLive = 8

  private mutating func open(_ batch: RecordedBatch) -> Outcome {
    let (note, last) = (batch.opened, lastTime)
    append(batch)
    guard live.allSatisfy({ openings[$0].policy != nil }) else { return .undecided(.noPolicy) }
    var facts = facts(of: batch, note).found(by: batch, after: fold)
    facts.notes = batch.contents.prefix { $0.isOfOpening && !batch.isOpenedPlainly }
      .compactMap { content in if case .note(let note) = content { note } else { nil } }
    let index = openings.count - 1
    let (opening, rest) = (openings[index], batch.decided)
    var decided: [SessionRecord.Content]?
    let isProvenGone = fold.intents.request.map { journal.gone.contains($0.sequence) } ?? false
    for isHolderGone in facts.isHolderGone ? [isProvenGone, !isProvenGone] : [false] {
      facts.isHolderGone = isHolderGone
      var script = InputScript(.opening, [.tell(.opened(facts))])
      let reports = batch.storageReports
      if !reports.isEmpty {
        script.steps.insert(contentsOf: [.tell(.stored(reports)), .holdBackNotes], at: 0)
      }
      guard let played = opening.playing(script, at: batch.time) else { continue }
      // What follows from an opening that was noted alone is the next batch.
      let isSame =
        played.decision?.contents == rest?.contents && played.decision?.time == batch.time
      if rest == nil || isSame {
        (openings[index], decision) = (played, played.decision)
        return .explained(opening: index, script)
      }
      decided = decided ?? played.decision?.contents
    }
    if batch.isOpenedPlainly, let rest,
      let (played, script) = opening.explaining(
        rest, by: scripts(for: rest, of: opening), openedWith: facts, since: last)
    {
      (openings[index], decision) = (played, played.decision)
      return .explained(opening: index, script)
    }
    let own = batch.isOpenedPlainly ? Array(batch.contents.prefix(1)) : []
    return .differs(decided: decided.map { own + $0 })
  }

  private func facts(of batch: RecordedBatch, _ note: SessionNote.Opened?) -> StoredItemsReport {
    var facts = items.agreeing(with: fold, boot: note?.boot)
    facts.process = note?.process ?? batch.sent?.process ?? 0
    facts.identity = note?.identity ?? (note == nil ? batch.sent?.identity : nil)
    facts.errorCodes = journal.errorCodes
    facts.idle = lastUse.map { max(0, batch.time.milliseconds(since: $0)) }
    facts.hasProvider = journal.hasProvider
    // That a process is gone is not recorded; that it was not known to be gone may be.
    facts.isHolderGone =
      fold.intents.request.map { !journal.awaited.contains($0.sequence) } ?? false
    return facts
  }

  /// The openings that may have written a batch, the most probable first.
  private mutating func writers(of batch: RecordedBatch) -> [Int] {
    guard !live.isEmpty else {
      guard isCompacted, openings.isEmpty else { return [] }
      // Its own record is not in the journal any more.
      begin(restored(at: batch.time, for: batch))
      return [0]
    }
    if let sent = batch.sent {
      return live.filter { openings[$0].isSender(of: sent) }
    }
    guard let request = batch.answered else { return live }
    return live.filter { openings[$0].hasSent(request) }
      + live.filter { !openings[$0].hasSent(request) }
  }

  /// Returns the opening whose record a snapshot has replaced.
  private func restored(at time: Timestamp, for batch: RecordedBatch) -> ReplayedOpening {
    var opening = ReplayedOpening(
      nil, at: time, policy: policies.policy(of: nil), fold: fold, unsent: journal.unsent)
    var facts = facts(of: batch, nil)
    facts.isHolderGone = false
    opening.take(.opened(facts), at: time)
    return opening
  }

  // MARK: The journal

  private mutating func finish(_ batch: RecordedBatch, _ outcome: Outcome) {
    var writer: Int?
    switch outcome {
    case .explained(let index, _):
      if let first = batch.decided?.first { openings[index].commit(first: first, at: batch.time) }
      writer = index
    case .differs, .undecided:
      writer = batch.opened != nil ? openings.indices.last : writers(of: batch).first
    }
    for index in live where index != writer {
      openings[index].follow(batch)
    }
    for record in batch.records {
      if case .snapshot = record.content { isCompacted = true }
      // The command has checked that the records can be folded.
      do { try fold.apply(record) } catch { return }
    }
    if batch.contents.provesUse { lastUse = batch.time }
    lastTime = batch.time
    let (offset, boot) = writer.map { (openings[$0].offset, openings[$0].note?.boot) } ?? (nil, nil)
    items.take(batch, offset: offset, boot: boot)
    guard let writer else { return }
    if case .explained = outcome {
      // A new token is a state that every opening knows.
      if batch.records.contains(where: { $0.event?.announcedToken != nil }) {
        openings[writer].isLost = false
      }
    } else {
      var opening = openings[writer].restarted(at: batch.time, fold, unsent: journal.unsent)
      var facts = facts(of: batch, opening.note)
      facts.isHolderGone = false
      opening.take(.opened(facts), at: batch.time)
      opening.isLost = true
      openings[writer] = opening
    }
    if batch.isClosing { live.removeAll { $0 == writer } }
  }
}

extension ReplayedOpening {
  /// Plays a script for a batch, and says whether the decision is the recorded one.
  ///
  /// A random number decides about the delay of the next attempt. The recorded delay is the same
  /// decision if it is between those of the least and the greatest random number.
  fileprivate func explaining(_ batch: RecordedBatch, by script: InputScript) -> (
    ReplayedOpening, InputScript, Bool
  )? {
    guard let first = playing(script, at: batch.time) else { return nil }
    let recorded = batch.contents
    let isSame = first.decision?.contents == recorded && first.decision?.time == batch.time
    guard let decided = first.decision?.contents, first.decision?.time == batch.time,
      let wanted = recorded.retryAt, let latest = decided.retryAt,
      decided.map(\.withoutDelay) == recorded.map(\.withoutDelay),
      let earliest = trying(script, .max, at: batch.time)?.1, earliest <= wanted, wanted <= latest
    else { return (first, script, isSame) }
    // A greater number makes the delay shorter.
    func number(_ isReached: (Timestamp) -> Bool) -> UInt16 {
      var (low, high) = (UInt16.min, UInt16.max)
      while low < high {
        let middle = low + (high - low) / 2
        let retryAt = trying(script, middle, at: batch.time)?.1 ?? wanted
        if isReached(retryAt) { high = middle } else { low = middle + 1 }
      }
      return low
    }
    var solved = script
    let (low, above) = (number { $0 <= wanted }, number { $0 < wanted })
    solved.jitters = low...(earliest < wanted ? above - 1 : .max)
    guard let (played, retryAt) = trying(script, low, at: batch.time), retryAt == wanted else {
      return (first, script, false)
    }
    return (played, solved, true)
  }

  /// Plays scripts for the first batch of an opening that found nothing to note.
  ///
  /// When it was opened is not recorded: at the time of the batch, or right after the batch before.
  fileprivate func explaining(
    _ batch: RecordedBatch, by scripts: [InputScript], openedWith facts: StoredItemsReport,
    since last: Timestamp?
  ) -> (ReplayedOpening, InputScript)? {
    for opened in [batch.time, last].compactMap({ $0 }) {
      for var script in scripts {
        script.steps.insert(.earlier(.opened(facts), opened), at: 0)
        let (played, solved, isSame) = explaining(batch, by: script) ?? (self, script, false)
        if isSame { return (played, solved) }
      }
    }
    return nil
  }

  private func trying(_ script: InputScript, _ jitter: UInt16, at time: Timestamp) -> (
    ReplayedOpening, Timestamp
  )? {
    var script = script
    script.jitters = jitter...jitter
    guard let played = playing(script, at: time), let retryAt = played.decision?.contents.retryAt
    else { return nil }
    return (played, retryAt)
  }
}

extension SessionRecord.Content {
  fileprivate var isLink: Bool { if case .note(.continued) = self { true } else { false } }
}
