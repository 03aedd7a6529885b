extension SessionCoordinator {
  mutating func open(_ facts: StoredItemsReport, at now: ClockReading) -> [SessionEffect] {
    opening = Opening(facts)
    owesProfile = policy.profileCheck == .afterLoginAndLaunch
    followOpenRequest(at: now)
    notes.opened(facts.notes, isDue: facts.isClockSet)
    var facts = facts
    facts.began = facts.began ?? now.time
    let locked = policy.locksAtLaunch ? lockItself(.launch, isOpening: true, at: now) : []
    return locked + clear(owed: facts.owedClearing) + restore(facts, at: now)
  }

  /// Brings journal and stored items into agreement.
  ///
  /// The journal decides whether a user is logged in. A stored token that is newer than the journal
  /// proves an event that was lost in a crash.
  ///
  /// - Requirement: REF-7
  mutating func restore(_ facts: StoredItemsReport, at now: ClockReading) -> [SessionEffect] {
    guard stopped == nil else { return [] }
    noteFinding(facts, at: now)
    var facts = facts
    // Treated as unreadable: it is read again before anything is removed (RES-7).
    let isElsewhere = isElsewhere(facts)
    let isDoubted = doubt.doubts(isElsewhere ? nil : absence(in: facts), at: now.uptime)
    if isElsewhere { items = .unread }
    if isElsewhere || isDoubted { facts.isLocked = true }
    var contents = agreement(with: facts, at: now)
    // The login was not journaled before this opening.
    let isLogin = contents.contains { if case .event(.login) = $0 { true } else { false } }
    if isLogin, policy.locksAtLaunch { contents.append(.note(.locked(.launch))) }
    let refused = isElsewhere ? refuseWaiting() : []
    // Nothing but the opening itself is to be noted: that waits for the first record that needs it. A
    // program that only finds its token leaves no record, and needs no lock and no sync.
    guard !contents.isEmpty || notes.hasFinding || notes.wantsCommit else {
      return refused + restored(facts, at: now)
    }
    let isStored = takesOver(facts) && facts.stray?.expired == nil
    return refused
      + commit(contents, for: .restore(facts), at: now, storing: isStored ? .stray : nil)
  }

  /// Refuses what needs the token: other processes store it in a place that this process does not use.
  private mutating func refuseWaiting() -> [SessionEffect] {
    let waiting = resume(callers.takeAll(.context, .token), .failed(.locked))
    guard let dropped = dropReauthentication() else { return waiting }
    return waiting + dropped.effects + [.resume(dropped.caller, .failed(.locked))]
  }

  /// Continues after journal and items agree; `hasEnded` if the session ended to make them agree.
  mutating func restored(
    _ facts: StoredItemsReport, hasEnded: Bool = false, at now: ClockReading
  ) -> [SessionEffect] {
    guard !facts.isLocked else {
      return unlockEnded(.failed(.locked))
        + [.schedule(.restore, uptime: now.uptime.addingSaturating(retryPause))]
    }
    items = isOfNewerVersion(facts) ? .ofNewerVersion : .current
    sparesOthers = fold.kind != .authenticated && spares(facts)
    namedSuccessor = facts.successor ?? namedSuccessor
    guard isRestored else {
      return unlockEnded(.failed(.newerItems))
        + [.schedule(.restore, uptime: now.uptime.addingSaturating(retryPause))]
    }
    var effects = unlockEnded(.current)
    switch state {
    case .unauthenticated, .expired:
      if let generation = facts.untold(of: fold) {
        // Items that were moved aside for diagnosis are removed only by a logout.
        let isLogout = fold.kind == .unauthenticated && !hasEnded
        effects +=
          isLogout
          ? logouts.request(wipeOfEnd(keeping: generation)) : wipeItems(keeping: generation)
        effects += revocations.begin(generation)
      } else {
        // Even if no item is stored: an interrupted write leaves bytes that no item shows.
        effects += wipeItems()
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
    let stored = facts.revocations.filter { open.contains($0) }
    return settled.map { .forgetRevocation($0) } + revocations.begin(each: stored, pending: open)
  }

  /// Handles the result of reading a token that another process announced.
  ///
  /// Without the stored token, the session must not look usable. A token that cannot be read yet
  /// does not count as missing.
  ///
  /// - Requirement: RES-1, RES-3
  mutating func reloaded(
    _ generation: Generation, _ outcome: SessionInput.Reload, at now: ClockReading
  ) -> [SessionEffect] {
    // A newer one was announced since, or the session is over.
    guard stopped == nil, state.token?.generation == generation else { return [] }
    switch outcome {
    case .found(let end, let deadline):
      doubt.noteFound(generation)
      guard let end, let token = state.token else { return [] }
      return lifetime.state(sessionEnd(end, of: token, deadline: deadline, at: now))
    case .unread:
      if isRestored { items = .unread }
      return [.schedule(.restore, uptime: now.uptime.addingSaturating(retryPause))]
    case .other:
      guard isRestored else { return [] }
      items = .unread
      return [.readSecrets]
    }
  }

  /// Decides at the opening whether the token is refreshed, and when.
  ///
  /// Two requests in a row without an end may mean that the response crashes the process. Without a pause,
  /// the app could not be started any more.
  private mutating func launch(at now: ClockReading) -> [SessionEffect] {
    guard case .authenticated(let session) = state else { return [] }
    let failures = session.failures
    let wasLost = failures.last?.kind == .noReply
    if wasLost, failures.total > 1 {
      // Not tried at the moment of opening again, since the process may have ended each time.
      let delay = policy.retryDelay(failures: failures.total, jitter: 0)
      let pause = policy.pause(afterEndedProcesses: opening.endedProcesses)
      let end = now.uptime.addingSaturating(max(delay, pause))
      // Calls and the foreground must not start a request that may end the process again.
      // A `refresh()` by the app is sent at once nevertheless, so that the app can offer it.
      if pause > 0 {
        schedule.pause(
          Backoff(failure: RequestFailure(kind: .noReply), end: end, isForAll: true))
      }
      return [schedule.begin(.retry, at: end)]
    }
    // Without a refresh token, the end of the token is decided without a server.
    if policy.launchRefresh == .always || !session.token.isRefreshable {
      schedule.repeatNow(wasLost ? .retry : .launch)
      return []
    }
    // A program that only reads the state has ended by then, and waits for no server. A caller that needs
    // a token starts the request before.
    let start = now.uptime.addingSaturating(Self.launchPause)
    guard !isTokenGood(at: now.uptime) || wasLost else { return schedule.wait(until: start) }
    return [schedule.begin(wasLost ? .retry : .launch, at: start)]
  }

  /// The milliseconds after an opening in which only a caller starts a request.
  private static var launchPause: Int64 { 500 }

  /// Counts the requests whose ends this opening has journaled, because their process did not.
  mutating func noteEndedProcess(in durable: PendingCommit) {
    guard case .restore = durable.purpose else { return }
    for case .event(.refreshFailed(let failed)) in durable.contents where failed.isLost {
      opening.countEndedProcess()
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
    return successor(facts) + unreadable + abandonedRevocations(facts)
      + stateAgreement(facts, at: now)
  }

  /// Returns the note that the session went on in another journal meanwhile.
  private func successor(_ facts: StoredItemsReport) -> [SessionRecord.Content] {
    guard let successor = facts.successor, successor != namedSuccessor else { return [] }
    let link = SessionNote.Continued(journal: successor, sequence: 0, cause: .lost)
    return [.note(.continued(link))]
  }

  /// Returns what the opening notes in addition to its own notes.
  ///
  /// `nil` if journal and items agree only by an event that begins or ends a session.
  func notesOfOpening(_ facts: StoredItemsReport, at now: ClockReading) -> [SessionNote]? {
    var notes: [SessionNote] = []
    for content in agreement(with: facts, at: now) {
      switch content {
      case .note(let note): notes.append(note)
      // Journaled again when another request takes the place of the lost one.
      case .event(let event) where event.kind == .refreshFailed: continue
      case .event, .snapshot, .unknown: return nil
      }
    }
    return notes
  }

  /// Returns the ends of revocations whose secrets are lost.
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
      guard facts.token != .newerVersion, !spares(facts) else { return [] }
      let isLeftOver =
        fold.kind == .unauthenticated ? facts.hasItems : facts.token != .absent
      return isLeftOver ? [.note(.secretsWiped(facts.wipeCause))] : []
    case .authenticated(let session):
      // The later version, installed again, continues its session. Without this rule an app that
      // was installed over a later version of itself was `loading` without an end, and even after a
      // logout every login was refused. A login is allowed, and its batch ends the session before.
      // So a wrong password loses nothing.
      guard !isOfNewerVersion(facts) else { return [] }
      if isUndone(facts) { return undoing(facts) }
      if let reason = problem(with: facts, of: session) {
        return ending(by: .disagreement(reason), at: now).events
      }
      if let recovered = recovered(facts) { return recovered }
      if facts.generation > session.token.generation {
        return ending(by: .disagreement(.corruptStorage), at: now).events
      }
      guard let request = fold.intents.request,
        isLost(request, at: now, as: facts)
      else { return [] }
      return [lost(request, at: now)]
    }
  }

  /// Returns what restores the state before a login that is undone.
  ///
  /// If its process says so, no host is called: that would clear data of a session that never began. A
  /// token that is only absent may have been used.
  private func undoing(_ facts: StoredItemsReport) -> [SessionRecord.Content] {
    let isOfExpired = facts.beforeUnprovenLogin == .expired
    let end = SessionEnding.Verdict.expires(.secretsMissing, isOfExpired ? .keep : .clear).events
    return end + (isOfExpired || !facts.isLoginReplaced ? [] : [.note(.localDataCleared)])
  }

  /// Returns the event of a token that was stored before a crash lost the event.
  func recovered(_ facts: StoredItemsReport) -> [SessionRecord.Content]? {
    guard facts.token == .present, facts.generation > fold.generation,
      let event = facts.announcement, event.announcedToken?.generation == facts.generation,
      state.allows(event)
    else { return nil }
    return [.note(.tokenRecovered(facts.generation)), .event(event)]
  }

  /// Whether a newer version wrote an item that the journal's session requires.
  private func isOfNewerVersion(_ facts: StoredItemsReport) -> Bool {
    guard fold.kind == .authenticated else { return false }
    // A newer revocation item does not count: it stays for the version that can read it. Neither
    // does a newer item with the refresh token alone: the token is used until it expires, and then
    // refreshes fail until a logout.
    return facts.token == .newerVersion
      || policy.requiredItems.contains { facts.item($0) == .newerVersion }
  }

  /// Returns why the stored items do not match the journal's session; `nil` if they do.
  private func problem(with facts: StoredItemsReport, of session: SessionState.Authenticated)
    -> ExpiryReason?
  {
    for item in [SecretItem.token, .user, .context] where policy.requiredItems.contains(item) {
      if item == .context, session.context == nil { continue }
      switch facts.item(item) {
      // An item of a newer version does not matter here: the caller has checked that.
      case .present, .newerVersion: continue
      case .absent, .otherJournal: return .secretsMissing
      case .unreadable: return .corruptStorage
      }
    }
    guard facts.generation >= session.token.generation else { return .secretsOutdated }
    return facts.isProofKeyLost ? .proofKeyLost : nil
  }

  // MARK: Requests without an end

  /// Returns the end of a request whose response is lost: the server may have acted on it.
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

extension SessionFold {
  /// Whether a stored token replaced the last journaled token of a session that has ended.
  ///
  /// The server then knows only the newer token, so that one is revoked. No event records it: the process
  /// that stored it died, or could not write the journal (`revoke-tokens-when-a-session-ends`).
  ///
  /// - Parameters:
  ///   - stored: the generation of the stored token.
  ///   - kind: the kind of the event that announces it; `nil` if it has none, or an unknown one. Such a
  ///     token is no successor: it may belong to a later login, whose user must stay.
  ///   - ended: the token whose revocation is pending.
  /// - Requirement: OUT-6
  package func isSuccessor(
    _ stored: Generation, announcedBy kind: SessionEvent.Kind?, of ended: Generation
  ) -> Bool {
    guard self.kind != .authenticated, ended == generation, stored > ended, let kind else {
      return false
    }
    return kind != .login
  }
}

extension StoredItemsReport {
  /// Whether the stored token is the one without a generation that takes the place of an undone login's.
  package var isLoginReplaced: Bool { token == .present && generation == .none }

  /// Whether any item of a session is stored.
  var hasItems: Bool {
    [token, user, context].contains { $0 != .absent && $0 != .newerVersion }
  }

  /// The token whose revocation a crash interrupted before its secrets were kept; `nil` for none.
  ///
  /// An item that should have been wiped still holds them. It is the token itself, a newer one of
  /// the same session, or the user whose account a provider must remove.
  package func untold(of fold: SessionFold) -> Generation? {
    let open = fold.intents.revocations
    if token == .present {
      if open.contains(generation) { return generation }
      let kind = announcement?.kind ?? unreadAnnouncement
      if let last = open.last, fold.isSuccessor(generation, announcedBy: kind, of: last) {
        return last
      }
    }
    guard hasProvider, user == .present else { return nil }
    return open.last { !revocations.contains($0) }
  }

  var wipeCause: SessionNote.WipeCause {
    let items = [token, user, context]
    if items.contains(.otherJournal) { return .otherJournal }
    return items.contains(.unreadable) && token != .present ? .unreadable : .signedOut
  }
}

/// The facts of the opening, which the shell gave.
struct Opening: Hashable, Sendable {
  /// The process of this coordinator.
  var process: UInt32 = 0
  /// The identity of this opening of the journal; `nil` if the shell gave none.
  var identity: ProcessIdentity?
  /// How many consecutive requests may have ended their process, as far as this opening knows.
  private(set) var endedProcesses: UInt32 = 0
  /// Whether the host must be notified when its local data is to be cleared.
  var hostClears = false
  /// Whether an identity provider keeps an account that must be removed with each logout.
  var hasProvider = false
  /// The meanings of the backend's error codes, by the configuration.
  ///
  /// - Requirement: POL-8
  var errorCodes: [String: ErrorMeaning] = [:]

  init() {}

  init(_ facts: StoredItemsReport) {
    (process, identity) = (facts.process, facts.identity)
    (hostClears, hasProvider) = (facts.hostClears, facts.hasProvider)
    (errorCodes, endedProcesses) = (facts.errorCodes, facts.endedProcesses)
  }

  /// Counts one more request that may have ended its process.
  mutating func countEndedProcess() {
    if endedProcesses < .max { endedProcesses += 1 }
  }

  /// Whether this opening sent the request; equal process numbers prove nothing.
  func isOwn(_ sent: SessionNote.RequestSent) -> Bool {
    guard let holder = sent.identity, let identity else { return sent.process == process }
    return holder.opening == identity.opening
  }

  /// Returns the meaning of the server's code, if only the configuration knows it.
  func configuredMeaning(of failure: RequestFailure) -> ErrorMeaning? {
    guard let code = failure.serverCode, let meaning = errorCodes[code],
      meaning != ErrorMeaning(code: code)
    else { return nil }
    return meaning
  }
}
