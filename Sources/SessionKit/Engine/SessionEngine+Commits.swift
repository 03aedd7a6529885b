@_spi(Internals) import SessionCore
import SessionJournal

/// Commits: which records and stored items are made durable, and in which order.
extension SessionEngine {
  /// Performs a commit under the journal's lock: it reads peers' records, stores the secrets, then
  /// appends the records.
  ///
  /// Throws if the log is busy. Then nothing was decided, and the commit can be performed again.
  func perform(_ commit: SessionCommit) throws(Busy) -> SessionInput {
    if let number = commit.storing { complete(number, commit) }
    do throws(TransactionError<CommitDecision, SessionError>) {
      let (transaction, decision) = try log.transact { foreign throws(SessionError) in
        try decide(commit, with: unknown(foreign))
      }
      switch decision {
      case .nothing(let input): return input
      case .append(let stored):
        guard let first = transaction.appended.first else {
          return failed(commit, by: nil, after: stored)
        }
        if !commit.isOfStorageOnly, problems.commit != nil { problems.commit = nil }
        if commit.storing != nil, problems.unstored != nil { problems.unstored = nil }
        count(transaction.appended, of: commit)
        if lastEnd.login.sequence >= first.sequence { provenSequence = lastEnd.login.sequence }
        keep(stored, of: commit.storing)
        return .committed(firstSequence: first.sequence)
      }
    } catch {
      switch error {
      case .refused(let error, _): return failed(commit, by: error, after: nil)
      case .unavailable(let error):
        let error = try settled(error)
        loseJournal(by: error)
        return failed(commit, by: .journal(error), after: nil)
      case .appendFailed(let error, let decision):
        loseJournal(by: error)
        return failed(commit, by: .journal(error), after: kept(decision.stored))
      }
    }
  }

  /// Decides under the journal's lock what a commit appends, and stores its secrets before that.
  ///
  /// The order is a rule. What peers appended comes first. A stored token that is newer comes before a batch
  /// that would use or give up an older one (`read-stored-tokens-before-using-an-older-one`). Room for a
  /// response is reserved before its request is journaled (`a-full-disk`). A token is stored before the event
  /// that announces it, so that a crash between the two loses neither.
  private func decide(_ commit: SessionCommit, with others: [SessionRecord]) throws(SessionError)
    -> ([JournalDraft], CommitDecision)
  {
    // Any record of a peer counts, also a note: its `requestSent` must stop this process's request.
    // To check only the generation and to append beside notes was rejected. It saves a round in
    // rare cases, and each kind of commit would need a proof that the notes do not matter to it.
    guard others.isEmpty else { return ([], .nothing(.conflicted(others))) }
    // A process can store token n+1 and die before it journals that. An opening repairs it, but a
    // peer that was open all the time opens nothing: it would send n again, and the session would
    // end with the only valid token wiped. Token and event are written under one hold of the lock.
    // So who has the lock and finds one without the other knows that the writer is not about to
    // write. Reading the items at every request was rejected, since some stores ask the user.
    if let newer = try vault.announcement(newerThan: commit.newest) {
      return ([], .nothing(.superseded(newer)))
    }
    if try needsPresence(toRefresh: commit.refreshing) { return ([], .nothing(.presenceNeeded)) }
    try refuseOthersSecrets(before: commit)
    if commit.isIntent { try vault.reserve(replacing: credentials.token) }
    let stored = try store(commit)
    return (commit.contents.map { JournalDraft($0, at: commit.time) }, .append(after: stored))
  }

  /// Stores the token that a commit announces; returns `nil` if it announces none.
  private func store(_ commit: SessionCommit) throws(SessionError) -> StoredToken? {
    guard let number = commit.storing else { return nil }
    // Without its token, the event would announce what no process has.
    guard let answer = requests.responses[number] else { throw .unreadableAnswer("it is gone") }
    return try vault.store(
      answer, announcedBy: commit, replacing: credentials.token, boot: configuration.clock.boot,
      firstUse: firstUse(), isOwned: configuration.tokenSource != nil)
  }

  /// Returns the token that a failed commit has stored, unless the log has taken it back.
  private func kept(_ stored: StoredToken?) -> StoredToken? {
    guard configuration.place.mayTakeSecretsBack, let stored else { return stored }
    do throws(SecretStoreError) {
      return try vault.token()?.generation == stored.generation ? stored : nil
    } catch {
      return stored
    }
  }

  /// Keeps what a failed commit leaves: its error, and the token that it has stored already.
  ///
  /// The server accepts only that token from now on, so it must not be lost.
  ///
  /// - Requirement: REF-7
  private func failed(
    _ commit: SessionCommit, by error: SessionError?, after stored: StoredToken?
  ) -> SessionInput {
    if lost == nil, let stored, let number = commit.storing, let deadline = commit.deadline {
      credentials.unjournaled = .init(number: number, token: stored, deadline: deadline)
    }
    // A token that was found beside a new journal stays: it is that of a session that goes on.
    if case .login? = commit.announcement, commit.storing != .stray, let stored {
      credentials.loginToRollBack = stored
    }
    if !commit.isOfStorageOnly { problems.commit = error }
    if commit.storing != nil { problems.unstored = error }
    return .commitFailed(
      isLasting: error?.isLasting ?? false, cause: error.map(StorageCause.init) ?? .failed,
      isStored: stored != nil)
  }

  /// Returns the peers' records that the coordinator has not received: those met before, and these.
  func unknown(_ foreign: [JournalRecord]) -> [SessionRecord] {
    peers.takeUndelivered() + read(foreign)
  }

  /// Completes a response with the stored user, if the response does not describe the user.
  ///
  /// A login's response describes the user completely. The user is stored under the session's own id,
  /// even if the response uses another id.
  private func complete(_ number: RequestNumber, _ commit: SessionCommit) {
    if case .login = commit.announcement { return }
    guard let user = requests.responses[number]?.user, let id = coordinator.state.user else {
      return
    }
    let known = credentials.profile?.id == id ? credentials.profile : nil
    let said = user.renamed(id)
    requests.responses[number]?.user = known?.completed(by: said) ?? said
  }

  /// Reads the records of other processes.
  ///
  /// The last end and the retention plan take them in too.
  func read(_ foreign: [JournalRecord]) -> [SessionRecord] {
    foreign.map { raw in
      let record = read(raw)
      count(record, raw)
      return record
    }
  }

  private func count(_ appended: [JournalRecord], of commit: SessionCommit) {
    for (raw, content) in zip(appended, commit.contents) {
      count(SessionRecord(sequence: raw.sequence, time: commit.time, content: content), raw)
    }
  }

  private func count(_ record: SessionRecord, _ raw: JournalRecord) {
    lastEnd.take(record)
    compaction.take(record, bytes: JournalFrame.bytes(of: raw.payload.count))
  }

  /// Reads a record of another process.
  ///
  /// If its payload cannot be read, the record counts as unknown.
  private func read(_ raw: JournalRecord) -> SessionRecord {
    do throws(SessionError) {
      return try SessionRecord(raw, path: log.name)
    } catch {
      let unknown = SessionRecord.Unknown(kind: raw.kind, payload: raw.payload)
      return SessionRecord(
        sequence: raw.sequence, time: Timestamp(milliseconds: 0), content: .unknown(unknown))
    }
  }

  /// Reads what peers have appended.
  ///
  /// It is durable, since it is read under the journal's lock.
  func observe() throws(Busy) -> SessionInput {
    do throws(JournalError) {
      let records = try log.locked { unknown($0) }
      return .observed(records, isHolderGone: isHolderGone(after: records))
    } catch {
      return unobserved(because: try settled(error))
    }
  }

  /// Returns the input that says that the journal cannot be read now.
  ///
  /// Callers that wait for a peer's request try again. The others receive the error.
  func unobserved(because error: JournalError) -> SessionInput {
    problems.commit = .journal(error)
    loseJournal(by: error)
    return .unobserved
  }

  /// Returns whether the opening whose request is open is proven to be gone.
  func isHolderGone(after records: [SessionRecord]) -> Bool {
    guard records.isEmpty, let sent = coordinator.fold.intents.request?.sent else { return false }
    return presence.isGone(sent.identity, sent.process)
  }

  private func keep(_ stored: StoredToken?, of number: RequestNumber?) {
    guard let stored, let number else { return }
    credentials.unjournaled = nil
    credentials.token = stored
    credentials.loginToRollBack = nil
    if stored.announcementKind == .login { (problems.secrets, problems.reading) = (nil, nil) }
    guard let answer = requests.responses.removeValue(forKey: number), let user = answer.user else {
      return
    }
    // A login's response names everything about the user. Another response may not.
    let isSame = credentials.profile?.id == user.id && answer.origin == nil
    credentials.profile = user
    if !isSame { credentials.origin = answer.origin }
    if let subject = answer.identitySubject {
      credentials.identitySubject = subject
    } else if stored.announcementKind == .login {
      credentials.identitySubject = nil
    }
  }

  func readStoredItems() -> StoredItemsReport {
    takeBack()
    var contents = vault.readStoredItems()
    credentials.token = contents.token
    credentials.take(contents.user)
    var facts = contents.facts
    facts.beforeUnprovenLogin = beforeUnprovenLogin(facts)
    requests.responses[.stray] = nil
    do throws(SecretStoreError) {
      facts.stray = try stray(beside: &facts)
    } catch {
      facts.isLocked = true
      contents.problem = contents.problem ?? error
    }
    problems.secrets = contents.newer.map(SessionError.secrets)
    problems.reading = contents.problem?.unlessLocked
    facts.hasProvider = configuration.tokenSource != nil
    for entry in contents.accounts {
      provider.pendingRemovals.insert(entry.account, for: entry.token)
    }
    lockOthersSecrets(&facts)
    facts.successor = contents.successor.map { Identifier($0) }
    do throws(SecretStoreError) { facts.missedFor = try missedFor(facts) } catch {
      facts.isLocked = true
      problems.reading = problems.reading ?? error.unlessLocked
    }
    // The journal was missed before, and is here again.
    if contents.user?.fields.missed != nil || contents.token?.fields.missed != nil {
      start { await $0.noteFound() }
    }
    if !coordinator.takesOver(facts) { requests.responses[.stray] = nil }
    if contents.hasStrayRevocations { start { await $0.tellStrayRevocations() } }
    facts.deadline = credentials.token?.deadline(in: configuration.clock.boot)
    facts.isHolderGone = isHolderGone(after: [])
    if let storers {
      let isMissed =
        storers.token == coordinator.state.token?.generation && facts.generation < storers.token
      facts.isStorerAlive = isMissed && !facts.isLocked && storers.openings.isAnyAlive(presence)
      if !isMissed { self.storers = nil }
    }
    facts.idle = idleTime()
    return facts
  }

  /// Returns the state before the last login, if nothing shows that it succeeded; else `nil`.
  ///
  /// A login whose token was found once counts as a success, unless that token was replaced by the one of
  /// an undone login.
  private func beforeUnprovenLogin(_ facts: StoredItemsReport) -> SessionState.Kind? {
    let (fold, login) = (coordinator.fold, lastEnd.login)
    guard login.sequence == fold.eventSequence else { return nil }
    if facts.isLoginReplaced { return login.before }
    if facts.generation == fold.generation { provenSequence = max(provenSequence, login.sequence) }
    return login.sequence > provenSequence ? login.before : nil
  }

  func reload(_ generation: Generation) {
    do throws(SecretStoreError) {
      let stored = try vault.token()
      let user = try vault.user()
      problems.reading = nil
      credentials.take(user)
      credentials.token = stored?.generation == generation ? stored : nil
      if credentials.token != nil {
        provenSequence = max(provenSequence, coordinator.fold.eventSequence)
      }
      let found = credentials.token.map { token in
        SessionInput.Reload.found(
          sessionEnd: token.sessionEnd, deadline: token.deadline(in: configuration.clock.boot))
      }
      feed(.reloaded(generation, found ?? .other))
    } catch {
      // Our token is dead, and the other process's token cannot be read yet. No token is better
      // than a wrong one.
      credentials.token = nil
      problems.reading = error.unlessLocked
      feed(.reloaded(generation, .unread))
    }
    show()
  }
}

extension SessionCommit {
  /// Whether a request that replaces the token leaves after this batch.
  fileprivate var isIntent: Bool {
    contents.contains { content in
      if case .note(.requestSent) = content { true } else { false }
    }
  }
}

/// What a commit decided under the journal's lock.
private enum CommitDecision: Sendable {
  /// It appends nothing. The coordinator receives the reason, and decides again.
  case nothing(SessionInput)
  /// It appends its records, after the token that they announce was stored.
  case append(after: StoredToken?)

  /// The token that was stored, even if the records are not appended.
  var stored: StoredToken? {
    if case .append(let stored) = self { stored } else { nil }
  }
}
