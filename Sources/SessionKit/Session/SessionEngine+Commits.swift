@_spi(Internals) import SessionCore
import SessionJournal

/// Commits: which records and stored items are made durable, and in which order.
extension SessionEngine {
  /// Performs a commit under the journal's lock: it reads peers' records, stores the secrets, then
  /// appends the records.
  func perform(_ commit: SessionCommit) -> SessionInput {
    if let number = commit.storing { complete(number, commit) }
    let drafts = commit.contents.map { JournalDraft($0, at: commit.time) }
    var conflict: [SessionRecord] = []
    var stored: StoredToken?
    var newer: SessionEvent?
    var isWithheld = false
    var failure: SessionError?
    do throws(JournalError) {
      let transaction = try journal.transact { foreign in
        conflict = unknown(foreign)
        guard conflict.isEmpty else { return [] }
        do throws(SessionError) {
          newer = try vault.announcement(newerThan: commit.newest)
          guard newer == nil else { return [] }
          isWithheld = try needsPresence(toRefresh: commit.refreshing)
          guard !isWithheld else { return [] }
          try refuseOthersSecrets(before: commit)
          guard let number = commit.storing, let answer = answers[number] else { return drafts }
          stored = try vault.store(
            answer, announcedBy: commit, replacing: token, boot: configuration.clock.boot,
            firstUse: firstUse(), isOwned: configuration.tokenSource != nil)
          return drafts
        } catch {
          failure = error
          return []
        }
      }
      if !conflict.isEmpty { return .conflicted(conflict) }
      if let newer { return .superseded(newer) }
      if isWithheld { return .presenceNeeded }
      if let first = transaction.appended.first {
        if !commit.isOfStorageOnly { commitError = nil }
        if commit.storing != nil { unstored = nil }
        count(transaction.appended, of: commit)
        keep(stored, of: commit.storing)
        return .committed(firstSequence: first.sequence)
      }
    } catch {
      failure = .journal(error)
      loseJournal(by: error)
    }
    if lost == nil, let stored, let number = commit.storing, let deadline = commit.deadline {
      unjournaledToken = (number, stored, deadline)
    }
    if case .login? = commit.announcement, let stored { loginToRollBack = stored }
    if !commit.isOfStorageOnly { commitError = failure }
    if commit.storing != nil { unstored = failure }
    guard conflict.isEmpty else { return .conflicted(conflict) }
    return .commitFailed(
      isLasting: failure?.isLasting ?? false, cause: failure.map(StorageCause.init) ?? .failed,
      isStored: stored != nil)
  }

  /// Returns the peers' records that the coordinator has not received: those met before, and these.
  func unknown(_ foreign: [JournalRecord]) -> [SessionRecord] {
    defer { undeliveredPeerRecords = [] }
    return undeliveredPeerRecords + read(foreign)
  }

  /// Completes a response: what it does not say of the user stays as stored.
  ///
  /// A login's response says everything.
  ///
  /// The user is stored under the session's own id, even if the response uses another name.
  private func complete(_ number: RequestNumber, _ commit: SessionCommit) {
    if case .login = commit.announcement { return }
    guard let user = answers[number]?.user, let id = coordinator.state.user else { return }
    let known = profile?.id == id ? profile : nil
    let said = user.renamed(id)
    answers[number]?.user = known?.completed(by: said) ?? said
  }

  /// Reads the records of other processes.
  ///
  /// The last end and the retention plan take them in too.
  func read(_ foreign: [JournalRecord]) -> [SessionRecord] {
    foreign.compactMap { raw in
      guard let record = read(raw) else { return nil }
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
    guard plan != nil else { return }
    retentionBacklog.append((record, JournalFrame.bytes(of: raw.payload.count)))
  }

  /// Reads a record of another process.
  ///
  /// If its payload cannot be read, the record counts as unknown.
  private func read(_ raw: JournalRecord) -> SessionRecord? {
    do throws(SessionError) {
      return try SessionRecord(raw, path: journal.path)
    } catch {
      let unknown = SessionRecord.Unknown(kind: raw.kind, payload: raw.payload)
      return SessionRecord(
        sequence: raw.sequence, time: Timestamp(milliseconds: 0), content: .unknown(unknown))
    }
  }

  /// Reads what peers have appended.
  ///
  /// It is durable, since it is read under the journal's lock.
  func observe() -> SessionInput {
    var records: [SessionRecord] = []
    do throws(JournalError) {
      _ = try journal.transact { foreign in
        records = unknown(foreign)
        return []
      }
    } catch {
      // The journal cannot be read now. Callers that wait for a peer's request try again; the
      // others receive the error.
      undeliveredPeerRecords = records
      commitError = .journal(error)
      loseJournal(by: error)
      return .unobserved
    }
    return .observed(records, isHolderGone: isHolderGone(after: records))
  }

  /// Returns whether the opening whose request is open is proven to be gone.
  func isHolderGone(after records: [SessionRecord]) -> Bool {
    guard records.isEmpty, let sent = coordinator.fold.intents.request?.sent else { return false }
    return presence.isGone(sent.identity, sent.process)
  }

  private func keep(_ stored: StoredToken?, of number: RequestNumber?) {
    guard let stored, let number else { return }
    unjournaledToken = nil
    token = stored
    loginToRollBack = nil
    if stored.announcementIsLogin { secretsProblem = nil }
    guard let answer = answers.removeValue(forKey: number), let user = answer.user else { return }
    // A login's response names everything about the user. Another response may not.
    let isSame = profile?.id == user.id && answer.origin == nil
    (profile, origin) = (user, isSame ? origin : answer.origin)
  }

  func readStoredItems() -> StoredItemsReport {
    let contents = vault.readStoredItems()
    token = contents.token
    (profile, origin) = (contents.profile, contents.origin)
    var facts = contents.facts
    answers[.stray] = nil
    do throws(SecretStoreError) {
      facts.stray = try stray(beside: &facts)
    } catch {
      facts.isLocked = true
    }
    secretsProblem = contents.newer.map(SessionError.secrets)
    facts.hasProvider = configuration.tokenSource != nil
    for entry in contents.accounts { owed.insert(entry.account, for: entry.token) }
    lockOthersSecrets(&facts, contents.problem)
    if !coordinator.takesOver(facts) { answers[.stray] = nil }
    if contents.hasStrayRevocations { spawn { await $0.tellStrayRevocations() } }
    facts.deadline = token?.deadline(in: configuration.clock.boot)
    facts.isHolderGone = isHolderGone(after: [])
    facts.idle = idle()
    return facts
  }

  func reload(_ generation: Generation) {
    do throws(SecretStoreError) {
      let stored = try vault.token()
      let user = try vault.user()
      (profile, origin) = (user?.profile, user?.origin)
      token = stored?.generation == generation ? stored : nil
      let found = token.map { token in
        SessionInput.Reload.found(
          sessionEnd: token.sessionEnd, deadline: token.deadline(in: configuration.clock.boot))
      }
      inbox.append(.reloaded(generation, found ?? .other))
    } catch {
      // Our token is dead, and the other process's token cannot be read yet. No token is better
      // than a wrong one.
      token = nil
      inbox.append(.reloaded(generation, .unread))
    }
    show()
  }
}
