extension SessionCoordinator {
  /// Requests a commit of a batch; its consequences are decided when it is durable.
  mutating func commit(
    _ contents: [SessionRecord.Content], for purpose: PendingCommit.Purpose, at now: ClockReading,
    storing: RequestNumber? = nil, doubting needsFreshView: Bool = false
  ) -> [SessionEffect] {
    notes.noteLastingRuns(at: now.uptime)
    // Notes that could not be journaled before go first.
    let waiting =
      notes.forNextBatch(at: now.uptime)
      + [appLock.note(after: fold.sequence)]
      .compactMap(\.self)
    var contents = waiting.map(SessionRecord.Content.note) + contents
    contents += revocation(with: contents, for: purpose)
    var deadline: Int64?
    var sessionEnd: Timestamp?
    if case .restore(let facts) = purpose, storing != nil { sessionEnd = facts.sessionEnd }
    if case .settle(let arrival) = purpose {
      deadline = arrival.deadline
      sessionEnd = storedSessionEnd(with: arrival)
      let skew = notes.newSkew(of: arrival.facts.serverTime, at: arrival.moment.time)
      contents += skew.map { [.note(.clockSkew($0))] } ?? []
      for case .event(let event) in contents {
        guard let token = event.announcedToken else { continue }
        if arrival.facts.isMeasuredByDevice {
          contents.append(.note(.deviceClockUsed(token.generation)))
        }
        if let life = newRefreshTokenLife(in: arrival) {
          let told = SessionNote.RefreshTokenLife(generation: token.generation, milliseconds: life)
          contents.append(.note(.refreshTokenLife(told)))
        }
        if let key = newBoundKey(in: arrival) {
          let bound = SessionNote.TokensBound(generation: token.generation, thumbprint: key)
          contents.append(.note(.tokensBound(bound)))
        }
      }
    }
    sequencer.begin(
      PendingCommit(purpose: purpose, contents: contents, moment: now, request: request?.number))
    let newest = needsFreshView ? max(fold.generation, unannounceable) : nil
    let isRefresh = purpose == .send && request?.isRefresh == true
    return [
      .commit(
        SessionCommit(
          contents: contents, time: now.time, storing: storing, deadline: deadline, newest: newest,
          refreshing: isRefresh ? request?.base : nil, sessionEnd: sessionEnd))
    ]
  }

  mutating func end(_ ended: PendingCommit, by input: SessionInput, at now: ClockReading)
    -> [SessionEffect]
  {
    switch input {
    case .committed(let first):
      return committed(ended, firstSequence: first, at: now)
    case .conflicted(let records):
      for case .note(.continued) in records.map(\.content) {
        // Another process has noted this meanwhile.
        notes.continuationNoted()
      }
      let effects = followPeers(records, at: now)
      noteSupersededFailure(of: ended)
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

  /// Notes a failure that was to be journaled, if another process's token superseded its request.
  mutating func noteSupersededFailure(of ended: PendingCommit) {
    if case .fail(let failure, _, _) = ended.purpose.asked {
      noteSuperseded(ended.request, failure)
    }
  }

  /// Folds the batch, which is durable now, and decides what follows.
  private mutating func committed(
    _ durable: PendingCommit, firstSequence: UInt64, at now: ClockReading
  ) -> [SessionEffect] {
    let before = (kind: fold.kind, token: fold.tokenGeneration)
    noteLostRequest(by: durable, at: now)
    spareLateResponses(after: durable.contents)
    if supersedesLostRequest(durable) { request?.holdBack() }
    peers.notePresumedLostAtOpening(presumesLostAtOpening(durable))
    let isInDoubt = losesSwitch(durable)
    notes.journaled()
    var published: [RecordedEvent] = []
    for (content, sequence) in zip(durable.contents, firstSequence...) {
      let record = SessionRecord(sequence: sequence, time: durable.time, content: content)
      do {
        try fold.apply(record)
      } catch {
        // The batch was decided on this fold, so it is legal. If it were not, nothing may
        // follow.
        stopped = .unusableJournal(error)
        return stopWaiting()
      }
      if let event = record.event {
        published.append(
          RecordedEvent(sequence: sequence, time: durable.time, event: event))
        noteEnd(event, by: durable.purpose.failure)
        // The token of the event is stored before it, also if the store never reported a failure.
        if event.announcedToken != nil {
          notes.take(StorageReport(item: .token, operation: .write), at: now.uptime)
        }
      }
      if case .note(.clockSkew(let skew)) = content { notes.noted(skew: skew) }
    }
    appLock.journaled(fold.intents.lock)
    // An opening announces the same token again: its doubt goes on.
    if fold.tokenGeneration != before.token { peers.endDoubt() }
    followOpenRequest(at: now)
    noteEndedProcess(in: durable)
    let effects = follow(durable, publishing: published, at: now) + clear(after: durable.contents)
    if isInDoubt { refreshInDoubt() }
    guard fold.kind != before.kind, fold.kind != .authenticated else { return effects }
    // Callers wait for the login that replaces the session.
    if case .replace = durable.purpose { return effects }
    // For any purpose of the batch: no caller waits in a session that it ended.
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
    case .send: publish(events) + send(intent: fold.sequence, after: durable, at: now)
    case .settle(let arrival): settled(arrival, publishing: events, at: now)
    case .replace(let arrival):
      publish(events) + wipeItems(endedBy: durable) + settle(arrival, at: now)
    case .fail(let failure, _, let delay):
      publish(events)
        + (fold.kind == .authenticated
          ? failureNoted(failure, delay: delay, at: now) : wipeItems(endedBy: durable))
    case .expire: publish(events) + wipeItems(endedBy: durable)
    case .logout(let caller, _): publish(events) + finishEnd(caller, durable.pendingRevocation)
    case .profileEndsSession: publish(events) + wipeItems(endedBy: durable)
    case .note, .storage, .need: publish(events)
    case .lock(let caller): publish(events) + resume(caller.map { [$0] } ?? [], .current)
    case .unlock(let caller, _): publish(events) + unlocked(caller, at: now)
    case .endings: endingsNoted(publishing: events)
    case .revoked(let generation, let outcome, let status):
      revocationNoted(generation, outcome, status: status, at: now)
    // A response that is dropped leaves a failure, which is published like any other event.
    case .close(let caller): publish(events) + closed(caller, dropping: durable.dropsAnswer)
    case .recover: tokenRecovered(after: durable, publishing: events, at: now)
    }
  }

  /// Decides a purpose again, after another process appended first.
  ///
  /// A batch was decided on exactly the journal that it follows. So no purpose needs a proof that the
  /// records in between do not matter to it (`compose-the-coordinator-of-machines`).
  mutating func decideAgain(_ purpose: PendingCommit.Purpose, at now: ClockReading)
    -> [SessionEffect]
  {
    switch purpose {
    // The items were read before the other process changed them.
    case .restore: [.readSecrets]
    case .send: decideRequestAgain()
    case .settle(let arrival), .replace(let arrival): settle(arrival, at: now)
    case .fail(let failure, let jitter, _): fail(failure, jitter: jitter, at: now)
    case .expire(.inactivity): inactivityIsDue(at: now)
    case .expire(.lifetimeEnded): lifetimeIsDue(at: now)
    // The waiting callers request a newer token again; another process may have one.
    case .expire(.endedByServer): refusalAgain()
    case .expire: expiryIsDue(at: now)
    case .logout(let caller, let scope): logout(caller, scope, at: now)
    case .profileEndsSession(let user, let failure, let token):
      profileRead(user, failure, token, at: now)
    case .note: cleared(at: now)
    case .need(let need): callNeedsUser(need, at: now)
    case .lock(let caller): noteLock(for: caller, at: now)
    case .unlock(let caller, let number): checkPassed(caller, number, at: now)
    // The notes still wait, and go with the next batch.
    case .storage: []
    case .revoked(let generation, let outcome, let status):
      revoked(generation, outcome, status: status, at: now)
    // The caller is still the first one that closes: the batch is requested again once nothing else is
    // to be done. Ends of requests still wait.
    case .close, .endings: []
    case .recover(let purpose): decideAgain(purpose, at: now)
    }
  }

  /// Handles a commit that failed; `isLasting` says that the same batch can never be journaled.
  private mutating func commitFailed(
    _ purpose: PendingCommit.Purpose, isLasting: Bool, _ obstacle: StorageObstacle,
    at now: ClockReading
  ) -> [SessionEffect] {
    switch purpose {
    case .restore(let facts):
      // With a durable token the session continues, and the notes are journaled later.
      if let left = notesOfOpening(facts, at: now) {
        notes.postpone(left)
        return restored(facts, at: now)
      }
      return unlockEnded(.failed(.storage))
        + [.schedule(.restore, uptime: now.uptime.addingSaturating(retryPause))]
    case .send, .fail:
      return sendingFailed(at: now)
    case .settle(let arrival):
      return isLasting
        ? settlingIsImpossible(at: now) : settlingFailed(arrival, obstacle, at: now)
    // The session goes on as before the login.
    case .replace: return loginNotJournaled()
    // The server repeats it at the next launch, and the host is notified again.
    // The next call finds the need again.
    case .profileEndsSession, .note, .need:
      return []
    case .lock(let caller): return resume(caller.map { [$0] } ?? [], .failed(.storage))
    case .unlock(let caller, _): return unlockFailed(caller)
    // Other batches may fail because of the secret store, but this one says that the journal
    // failed.
    case .storage:
      notes.notJournaled()
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
      // The ends are not journaled. Still, this process does not wait for its own requests.
      for note in notes.takeEndings() {
        switch note {
        case .requestEnded(let ended): peers.giveUp(ended.request)
        case .answerUnused(let request): peers.giveUp(request)
        default: continue
        }
      }
      return []
    case .close(let caller):
      // Perhaps the stored token could not be read: the batch is valid without that check.
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
      // The note is lost and the intent stays open: a later attempt settles it, or the next opening.
      return proceedRevoking(at: now) + logouts.end(generation, outcome, status: status)
    }
  }

  /// Whether the opening is noted in the journal.
  package var isOpen: Bool { notes.opening.isEmpty }

  /// Whether the session object is closed, or its journal cannot be used any more.
  package var isStopped: Bool { stopped != nil }

  /// The milliseconds before a commit or a read of the stored items is tried again.
  var retryPause: Int64 { 1_000 }
}
