extension SessionCoordinator {
  /// Asks for a batch; what follows from it is decided when it is durable.
  mutating func commit(
    _ contents: [SessionRecord.Content], for purpose: PendingCommit.Purpose, at now: ClockReading,
    storing: RequestNumber? = nil, doubting needsFreshView: Bool = false
  ) -> [SessionEffect] {
    storage.noteLastingRuns(at: now.uptime)
    // What the opening found and could not be noted then goes first.
    var contents = (openingNotes + storage.notes).map(SessionRecord.Content.note) + contents
    contents += revocation(with: contents, for: purpose)
    var deadline: Int64?
    var sessionEnd: Timestamp?
    if case .restore(let facts) = purpose, storing != nil { sessionEnd = facts.sessionEnd }
    if case .settle(let arrival) = purpose {
      deadline = arrival.deadline
      sessionEnd = storedSessionEnd(with: arrival)
      contents += newSkew(in: arrival).map { [.note(.clockSkew($0))] } ?? []
    }
    pending = PendingCommit(
      purpose: purpose, contents: contents, moment: now, request: flight?.number)
    let newest = needsFreshView ? max(fold.generation, unannounceable) : nil
    let isRefresh = purpose == .send && flight?.isRefresh == true
    return [
      .commit(
        SessionCommit(
          contents: contents, time: now.time, storing: storing, deadline: deadline, newest: newest,
          refreshing: isRefresh ? flight?.base : nil, sessionEnd: sessionEnd))
    ]
  }

  /// How far this device's civil time is ahead of the server's, where that differs by more than the
  /// bound from what was noted last; none is noted of a device that is right.
  ///
  /// - Requirement: REF-8
  private func newSkew(in arrival: TokenRequest.ReceivedResponse) -> Int64? {
    guard let server = arrival.facts.serverTime else { return nil }
    let skew = arrival.moment.time.milliseconds(since: server)
    let change = skew.subtractingSaturating(notedSkew)
    return change.magnitude > UInt64(skewBound) ? skew : nil
  }

  /// Milliseconds by which the skew must change to be noted: a `Date` is in whole seconds, and an answer
  /// takes its time.
  private var skewBound: Int64 { 30_000 }

  mutating func end(_ ended: PendingCommit, by input: SessionInput, at now: ClockReading)
    -> [SessionEffect]
  {
    switch input {
    case .committed(let first):
      return committed(ended, firstSequence: first, at: now)
    case .conflicted(let records):
      for case .note(.continued) in records.map(\.content) {
        // Another process has said so meanwhile.
        openingNotes.removeAll { $0.kind == .continued }
      }
      let effects = absorb(records, at: now)
      noteOverdueFailure(of: ended)
      return effects + decideAgain(ended.purpose, at: now)
    case .commitFailed(let isLasting, let cause, let isStored):
      let obstacle = StorageObstacle(cause: cause, isStored: isStored)
      return commitFailed(ended.purpose, isLasting: isLasting, obstacle, at: now)
    case .superseded(let event):
      return superseded(by: event, ended.purpose, at: now)
    case .presenceNeeded:
      return presenceNeeded(at: now)
    default:
      return []
    }
  }

  /// The failure that was to be journaled is of a request whose place another process's token took.
  mutating func noteOverdueFailure(of ended: PendingCommit) {
    if case .fail(let failure, _, _) = ended.purpose.asked { noteOverdue(ended.request, failure) }
  }

  /// Folds the batch that is durable now and says what follows.
  private mutating func committed(
    _ durable: PendingCommit, firstSequence: UInt64, at now: ClockReading
  ) -> [SessionEffect] {
    let before = state.kind
    noteOvertaken(by: durable, at: now)
    spareResponses(after: durable.contents)
    if overtakes(durable) { flight?.isHeldBack = true }
    overtookAtOpening = overtakesAtOpening(durable)
    let isInDoubt = losesSwitch(durable)
    openingNotes = []
    storage.journaled()
    var published: [RecordedEvent] = []
    for (content, sequence) in zip(durable.contents, firstSequence...) {
      let record = SessionRecord(sequence: sequence, time: durable.time, content: content)
      do {
        try fold.apply(record)
      } catch {
        // Decided on this very fold, so it cannot be illegal; if it were, nothing may follow.
        stopped = .unusableJournal(error)
        return stopWaiting()
      }
      if let event = record.event {
        published.append(
          RecordedEvent(sequence: sequence, time: durable.time, event: event))
        noteEnd(event, by: durable.purpose.failure)
      }
      if case .note(.clockSkew(let skew)) = content { notedSkew = skew }
    }
    noteLease(at: now)
    noteEndedProcess(in: durable)
    let effects = follow(durable, publishing: published, at: now) + clear(after: published)
    if isInDoubt { refreshInDoubt() }
    guard state.kind != before, state.kind != .authenticated else { return effects }
    // Whatever the batch was for: nobody waits in a session that it ended.
    return effects + stopWaiting(because: durable.purpose.failure)
  }

  private mutating func follow(
    _ durable: PendingCommit, publishing events: [RecordedEvent], at now: ClockReading
  ) -> [SessionEffect] {
    switch durable.purpose {
    case .restore(let facts):
      publish(events)
        + restored(
          facts, hasEnded: events.contains { $0.event.kind == .sessionExpired }, at: now)
    case .send: publish(events) + send(note: fold.sequence, after: durable, at: now)
    case .settle(let arrival): settled(arrival, publishing: events, at: now)
    case .fail(let failure, _, let delay):
      publish(events)
        + (state.kind == .authenticated
          ? failureNoted(failure, delay: delay, at: now) : wipeEnded(by: durable))
    case .expire: publish(events) + wipeEnded(by: durable)
    case .logout(let caller, _): publish(events) + left(caller, durable.pendingRevocation)
    case .profileEndsSession: publish(events) + wipeEnded(by: durable)
    case .note, .storage: publish(events)
    case .endings: endingsNoted(publishing: events)
    case .revoked(let generation, let outcome, let status):
      revocationNoted(generation, outcome, status: status, at: now)
    case .close(let caller): closed(caller, dropping: durable.dropsAnswer)
    case .recover: tokenRecovered(after: durable, publishing: events, at: now)
    }
  }

  /// Another process came first: the same question is asked of the state as it is now.
  mutating func decideAgain(_ purpose: PendingCommit.Purpose, at now: ClockReading)
    -> [SessionEffect]
  {
    switch purpose {
    // The items were looked at before the other process changed them.
    case .restore: [.readSecrets]
    case .send: sendAgain()
    case .settle(let arrival): settle(arrival, at: now)
    case .fail(let failure, let jitter, _): fail(failure, jitter: jitter, at: now)
    case .expire(.inactivity): inactivityIsDue(at: now)
    case .expire(.lifetimeEnded): lifetimeIsDue(at: now)
    // The waiting callers ask for a newer token again; another process may have one.
    case .expire(.endedByServer): refusalAgain()
    case .expire: expiryIsDue(at: now)
    case .logout(let caller, let scope): logout(caller, scope, at: now)
    case .profileEndsSession(let user, let failure): profileRead(user, failure, at: now)
    case .note: cleared(at: now)
    // The notes still wait, and go with the next batch.
    case .storage: []
    case .revoked(let generation, let outcome, let status):
      revoked(generation, outcome, status: status, at: now)
    // Still first among the closers: asked for again as soon as nothing else is to be done.
    // And what was not sent stays so.
    case .close, .endings: []
    case .recover(let purpose): decideAgain(purpose, at: now)
    }
  }

  /// Nothing was journaled; `isLasting` says that the same batch never can be.
  private mutating func commitFailed(
    _ purpose: PendingCommit.Purpose, isLasting: Bool, _ obstacle: StorageObstacle,
    at now: ClockReading
  ) -> [SessionEffect] {
    switch purpose {
    case .restore(let facts):
      // With a durable token the user goes on working, and what is to be noted is noted later.
      if let notes = notesOfOpening(facts, at: now) {
        openingNotes += notes
        return restored(facts, at: now)
      }
      return unlockEnded(.failed(.storage))
        + [.schedule(.restore, uptime: now.uptime.addingSaturating(retryPause))]
    case .send, .fail:
      return sendingFailed(at: now)
    case .settle(let arrival):
      return isLasting
        ? settlingIsImpossible(at: now) : settlingFailed(arrival, obstacle, at: now)
    // The server says so again at the next launch, and the host is asked again.
    case .profileEndsSession, .note:
      return []
    // Other batches fail also because of the secret store: that says nothing of the journal.
    case .storage:
      storage.notJournaled()
      return []
    case .expire(.lifetimeEnded):
      return resumeAll(.failed(.storage))
        + [.schedule(.lifetime, uptime: now.uptime.addingSaturating(retryPause))]
    case .expire(.inactivity):
      return resumeAll(.failed(.storage))
        + [.schedule(.inactivity, uptime: now.uptime.addingSaturating(retryPause))]
    case .expire:
      return resumeAll(.failed(.storage))
        + [.schedule(.expiry, uptime: now.uptime.addingSaturating(retryPause))]
    case .logout(let caller, _):
      return [.resume(caller, .failed(.storage))]
    case .endings:
      // The ends are not noted. This process does not wait for its own requests even so.
      for case .requestEnded(let ended) in endings { givenUp = ended.request }
      endings = []
      return []
    case .close(let caller):
      // The stored token may be what could not be read: the journal says the same without it.
      guard dropsAnswer, !closesUnread else { return closed(caller, dropping: dropsAnswer) }
      closesUnread = true
      return finish(for: caller, at: now)
    case .recover(let purpose):
      guard isLasting else {
        return commitFailed(purpose, isLasting: false, obstacle, at: now)
      }
      unannounceable = fold.generation.next
      return decideAgain(purpose, at: now)
    case .revoked(let generation, let outcome, let status):
      // The note is lost and the intent stays open: it is settled at the next open.
      return resumeLeaving(generation, outcome, status: status)
    }
  }

  /// Whether the opening is noted in the journal.
  package var isOpen: Bool { openingNotes.isEmpty }

  /// Whether it is closed, or its journal cannot be used any more.
  package var isStopped: Bool { stopped != nil }

  /// Milliseconds before a commit or a look at the stored items is tried again.
  var retryPause: Int64 { 1_000 }
}
