extension SessionCoordinator {
  mutating func open(_ facts: StoredItemsReport, at now: ClockReading) -> [SessionEffect] {
    (process, identity) = (facts.process, facts.identity)
    (hostClears, hasProvider) = (facts.hostClears, facts.hasProvider)
    errorCodes = facts.errorCodes
    owesProfile = policy.profileCheck == .afterLoginAndLaunch
    noteLease(at: now)
    openingNotes = facts.notes
    endedProcesses = facts.endedProcesses
    var facts = facts
    facts.began = facts.began ?? now.time
    return clear(owed: facts.owedClearing) + restore(facts, at: now)
  }

  /// Brings journal and stored items into agreement: the journal decides who is signed in, and a
  /// stored token that is newer than the journal proves an event that a crash kept out.
  ///
  /// - Requirement: REF-7
  mutating func restore(_ facts: StoredItemsReport, at now: ClockReading) -> [SessionEffect] {
    guard stopped == nil else { return [] }
    noteFinding(facts, at: now)
    var facts = facts
    // As if it could not be read: it is asked again before anything is removed (RES-7).
    if doubt.doubts(absence(in: facts), at: now.uptime) { facts.isLocked = true }
    let contents = agreement(with: facts, at: now)
    guard !contents.isEmpty || !openingNotes.isEmpty || storage.wantsCommit else {
      return restored(facts, at: now)
    }
    let isStored = takesOver(facts) && facts.stray?.expired == nil
    return commit(
      contents, for: .restore(facts), at: now, storing: isStored ? .stray : nil)
  }

  /// What follows once journal and items agree; `hasEnded` if the session ended to make them agree.
  mutating func restored(
    _ facts: StoredItemsReport, hasEnded: Bool = false, at now: ClockReading
  ) -> [SessionEffect] {
    guard !facts.isLocked else {
      return unlockEnded(.failed(.locked))
        + [.schedule(.restore, uptime: now.uptime.addingSaturating(retryPause))]
    }
    needsUpdate = isOfNewerVersion(facts)
    guard !needsUpdate else {
      isRestored = false
      return unlockEnded(.failed(.newerItems))
        + [.schedule(.restore, uptime: now.uptime.addingSaturating(retryPause))]
    }
    isRestored = true
    var effects = unlockEnded(.current)
    switch state {
    case .unauthenticated, .expired:
      if let generation = facts.untold(of: fold) {
        // What was set aside for diagnosis goes with a logout only.
        let isLogout = state.kind == .unauthenticated && !hasEnded
        effects += isLogout ? wipe(wipeOfEnd(keeping: generation)) : wipeEnded(keeping: generation)
        effects += tell(generation)
      } else {
        // Also if there is nothing: a write that was cut short leaves what no item shows.
        effects += wipeEnded()
      }
    case .authenticated(let session):
      effects += tokenChanged(
        session.token, remaining: remaining(of: session.token, as: facts, at: now), at: now)
    }
    effects += pendingRevocations(facts)
    effects += launch(at: now)
    effects += resumeUse(idle: facts.idle, at: now)
    return effects + resumeLifetime(facts, at: now)
  }

  private mutating func pendingRevocations(_ facts: StoredItemsReport) -> [SessionEffect] {
    let open = fold.intents.revocations
    let settled = facts.revocations.filter { !open.contains($0) }
    let untold = facts.revocations.filter { open.contains($0) }
    return settled.map { .forgetRevocation($0) } + tell(each: untold)
  }

  /// The token that another process announced, as it is stored: nobody is shown as signed in by a
  /// token that nobody has, and one that cannot be read yet is not "no token".
  ///
  /// - Requirement: RES-1, RES-3
  mutating func reloaded(
    _ generation: Generation, _ outcome: SessionInput.Reload, at now: ClockReading
  ) -> [SessionEffect] {
    // A newer one has been asked for since, or the session is over.
    guard stopped == nil, state.token?.generation == generation else { return [] }
    switch outcome {
    case .found(let end, let deadline):
      guard let end, let token = state.token else { return [] }
      return takeSessionEnd(sessionEnd(end, of: token, deadline: deadline, at: now))
    case .unread:
      isRestored = false
      return [.schedule(.restore, uptime: now.uptime.addingSaturating(retryPause))]
    case .other:
      guard isRestored else { return [] }
      isRestored = false
      return [.readSecrets]
    }
  }

  private mutating func launch(at now: ClockReading) -> [SessionEffect] {
    guard case .authenticated(let session) = state else { return [] }
    let failures = session.failures
    let wasLost = failures.last?.kind == .noReply
    if wasLost, failures.total > 1 {
      // Whatever became of the process each time: not once more at the moment of opening.
      refreshTrigger = .retry
      let delay = policy.retryDelay(failures: failures.total, jitter: 0)
      let pause = policy.pause(afterEndedProcesses: endedProcesses)
      let end = now.uptime.addingSaturating(max(delay, pause))
      // What would end the process again must not be asked by a call or by coming to the foreground.
      if pause > 0 {
        rest = Backoff(failure: RequestFailure(kind: .noReply), end: end, isForAll: true)
      }
      return [.schedule(.refresh, uptime: end)]
    }
    guard !isTokenGood(at: now.uptime) || wasLost || policy.launchRefresh == .always else {
      return []
    }
    due = wasLost ? .retry : .launch
    return []
  }

  /// Takes note of a request whose end this opening has journaled: its process had not.
  mutating func noteEndedProcess(in durable: PendingCommit) {
    guard case .restore = durable.purpose else { return }
    for case .event(.refreshFailed(let failed)) in durable.contents where failed.isLost {
      endedProcesses = endedProcesses == .max ? .max : endedProcesses + 1
    }
  }

  // MARK: Agreement

  private func agreement(with facts: StoredItemsReport, at now: ClockReading) -> [SessionRecord
    .Content]
  {
    guard !facts.isLocked else { return [] }
    let items: [SecretItem] = [.token, .user, .context]
    let unreadable = items.filter { facts.item($0) == .unreadable }
      .map { SessionRecord.Content.note(.itemUnreadable($0)) }
    return unreadable + abandonedRevocations(facts) + stateAgreement(facts, at: now)
  }

  /// What opening has to note beside its own notes; `nil` where journal and items agree only by an
  /// event that begins or ends a session.
  func notesOfOpening(_ facts: StoredItemsReport, at now: ClockReading) -> [SessionNote]? {
    var notes: [SessionNote] = []
    for content in agreement(with: facts, at: now) {
      switch content {
      case .note(let note): notes.append(note)
      // Said again where the lost request's place is taken.
      case .event(let event) where event.kind == .refreshFailed: continue
      case .event, .snapshot, .unknown: return nil
      }
    }
    return notes
  }

  /// Revocations that lost what they need cannot be made good any more.
  private func abandonedRevocations(_ facts: StoredItemsReport) -> [SessionRecord.Content] {
    guard !facts.hasUnreadRevocations else { return [] }
    return fold.intents.revocations
      .filter { !facts.revocations.contains($0) && $0 != facts.untold(of: fold) }
      .map(Self.abandoned)
  }

  static func abandoned(_ generation: Generation) -> SessionRecord.Content {
    .note(
      .revocationSettled(
        SessionNote.RevocationSettled(generation: generation, outcome: .abandoned, status: 0)))
  }

  private func stateAgreement(_ facts: StoredItemsReport, at now: ClockReading) -> [SessionRecord
    .Content]
  {
    switch state {
    case .unauthenticated, .expired:
      if let recovered = recovered(facts) { return recovered }
      if takesOver(facts), let stray = facts.stray { return takenOver(stray) }
      guard facts.token != .newerVersion else { return [] }
      let isLeftOver =
        state.kind == .unauthenticated ? facts.hasItems : facts.token != .absent
      return isLeftOver ? [.note(.secretsWiped(facts.wipeCause))] : []
    case .authenticated(let session):
      guard !isOfNewerVersion(facts) else { return [] }
      if let reason = problem(with: facts, of: session) {
        return endEvents(reason, policy.onRejection)
      }
      if let recovered = recovered(facts) { return recovered }
      if facts.generation > session.token.generation {
        return endEvents(.corruptStorage, policy.onRejection)
      }
      guard let request = fold.intents.request,
        isLost(request, at: now, as: facts)
      else { return [] }
      return [lost(request, at: now)]
    }
  }

  /// The event of a token that was stored before a crash kept the event out.
  private func recovered(_ facts: StoredItemsReport) -> [SessionRecord.Content]? {
    guard facts.token == .present, facts.generation > fold.generation,
      let event = facts.announcement, event.announcedToken?.generation == facts.generation,
      state.allows(event)
    else { return nil }
    return [.note(.tokenRecovered(facts.generation)), .event(event)]
  }

  /// Whether a newer version wrote an item that the journal's session needs.
  private func isOfNewerVersion(_ facts: StoredItemsReport) -> Bool {
    guard state.kind == .authenticated else { return false }
    return facts.token == .newerVersion
      || policy.requiredItems.contains { facts.item($0) == .newerVersion }
  }

  /// Why the stored items do not carry the journal's session, where they do not.
  private func problem(with facts: StoredItemsReport, of session: SessionState.Authenticated)
    -> ExpiryReason?
  {
    for item in [SecretItem.token, .user, .context] where policy.requiredItems.contains(item) {
      if item == .context, session.context == nil { continue }
      switch facts.item(item) {
      // Of the items that matter none is of a newer version: that was seen before.
      case .present, .newerVersion: continue
      case .absent, .otherJournal: return .secretsMissing
      case .unreadable: return .corruptStorage
      }
    }
    return facts.generation < session.token.generation ? .secretsOutdated : nil
  }

  // MARK: Requests without an end

  /// The end of a request whose answer is lost: the server may have acted on it.
  func lost(_ request: OpenIntents.Request, at now: ClockReading) -> SessionRecord.Content {
    let failure = RequestFailure(kind: .noReply)
    guard request.sent.kind == .refresh, request.sent.generation == state.token?.generation else {
      return .note(
        .requestEnded(SessionNote.RequestEnded(request: request.sequence, failure: failure)))
    }
    return .event(
      .refreshFailed(
        SessionEvent.RefreshFailed(
          generation: request.sent.generation, trigger: request.sent.trigger,
          attempt: request.sent.attempt, failure: failure, retryAt: now.time,
          request: request.sequence)))
  }
}

extension StoredItemsReport {
  /// Whether anything of a session is stored.
  var hasItems: Bool {
    [token, user, context].contains { $0 != .absent && $0 != .newerVersion }
  }

  /// The token whose revocation a crash cut short before it had what it needs: an item that should be
  /// wiped by now still has it.
  ///
  /// That is the token itself, a newer one of the same session, or the user whose account a provider is
  /// to forget.
  package func untold(of fold: SessionFold) -> Generation? {
    let open = fold.intents.revocations
    if token == .present {
      if open.contains(generation) { return generation }
      if let last = open.last, isNewer(than: last, in: fold) { return last }
    }
    guard hasProvider, user == .present else { return nil }
    return open.last { !revocations.contains($0) }
  }

  /// Whether the stored token replaced the one of this generation at the server before that session ended,
  /// and no event says so: its process died, or could not write the journal.
  private func isNewer(than generation: Generation, in fold: SessionFold) -> Bool {
    guard fold.state.kind != .authenticated, generation == fold.generation,
      self.generation > generation, let announcement
    else { return false }
    return announcement.kind != .login
  }

  var wipeCause: SessionNote.WipeCause {
    let items = [token, user, context]
    if items.contains(.otherJournal) { return .otherJournal }
    return items.contains(.unreadable) && token != .present ? .unreadable : .signedOut
  }
}
