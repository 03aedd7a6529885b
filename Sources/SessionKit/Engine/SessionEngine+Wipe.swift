@_spi(Internals) import SessionCore
import SessionJournal

/// Removes the stored items of a session that has ended, and keeps what its revocation needs.
///
/// Both happen under the journal's lock, so that the items are changed only by a process that knows
/// the whole journal. If peers' records are found there, they are handled before anything else is
/// decided.
extension SessionEngine {
  /// Removes items.
  ///
  /// Items of another process's sign-in are not touched.
  func begin(_ wipe: SessionEffect.Wipe) {
    let held = credentials.token
    if wipe.extent != .nothing { credentials.token = nil }
    if let generation = wipe.keptRevocation, let held, held.generation == generation {
      // A token that was stored but not journaled has replaced the held one. The server knows the
      // newer token.
      let unjournaled = credentials.unjournaled?.token
      let newer = unjournaled.flatMap { $0.generation > generation ? $0 : nil }
      revocations.tokens[generation] = vault.whole(newer ?? held).standing(for: generation)
    }
    loop.effects.append(.wipe(wipe, of: held))
  }

  /// Removes the items under the journal's lock; throws if the log is busy, and then nothing was
  /// removed.
  func finish(_ wipe: SessionEffect.Wipe, of held: StoredToken?) throws(Busy) {
    var (others, isDone): ([SessionRecord], Bool) = ([], false)
    do throws(JournalError) {
      (others, isDone) = try log.locked { foreign in
        let others = unknown(foreign)
        guard others.isEmpty else { return (others, false) }
        undoLogin(isLocked: true)
        do throws(SessionError) {
          try keepRevocations(wipe.keptRevocation)
          var owner = secretsOwner
          if case .unread(let problem) = owner { throw .secrets(problem) }
          // A later opening would go on with a login of the hidden journal, after the user logged out.
          let isLogout = wipe.extent == .everything && lastEnd.end?.reason == .loggedOut(.user)
          if case .hidden = owner, isLogout { owner = .none }
          if refusal(of: owner) == nil {
            try vault.wipe(wipe, of: held)
            if wipe.sparesOthers { try noteMissed() }
          }
          return ([], true)
        } catch {
          return ([], false)
        }
      }
    } catch {
      loseJournal(by: try settled(error))
    }
    if isDone { credentials.loginToRollBack = nil }
    undoLogin()
    guard others.isEmpty else {
      credentials.token = held
      // The effects that follow in the list must not be decided without these records.
      peers.undelivered = others
      return answer(.wiped(.overtaken([])))
    }
    feed(.wiped(isDone ? .done : .failed))
  }

  /// Stores since when the journal of the items that stay is missed.
  private func noteMissed() throws(SessionError) {
    let (clock, now) = (configuration.clock, configuration.clock.now())
    try vault.noteMissed(since: LastActivity(at: now.uptime, now: now, boot: clock.boot))
  }

  /// Removes the token of a sign-in that failed for its caller.
  ///
  /// The token may be stored although its event is not journaled. Such a token must not sign the
  /// user in at the next opening.
  ///
  /// Under the lock, a token that no record names is removed without being read: no other process
  /// has stored one since. A process without a free descriptor can remove a file, and cannot read it.
  ///
  /// If the lock is not available, it works without it. Therefore it replaces only the token that
  /// was stored. If that fails, the next wipe and `close()` try again.
  func undoLogin(isLocked: Bool = false) {
    guard let login = credentials.loginToRollBack else { return }
    let isUnnamed = isLocked && login.generation > coordinator.fold.generation
    guard isUnnamed || !isLocked else { return }
    do throws(SessionError) {
      try vault.undo(login, unread: isUnnamed)
      credentials.loginToRollBack = nil
    } catch {
      // The wipe, which has failed too, is tried again.
    }
  }

  /// Stores what the revocation of ended sessions' tokens needs, before the token item is removed.
  ///
  /// This includes the tokens of this generation, and those that could not be stored before.
  ///
  /// Throws if the token item cannot be read. Then it must not be removed.
  private func keepRevocations(_ generation: Generation?) throws(SessionError) {
    if let generation { try takeStored(for: generation) }
    // Only a provider needs the user.
    let needsUser =
      configuration.tokenSource != nil || revocations.tokens.values.contains { $0.isOwned }
    let user = needsUser ? departingUser() : nil
    for (other, token) in revocations.tokens {
      // A token that could not be stored before may be another user's.
      let whose = other == generation ? user : provider.pendingRemovals.user(of: other)
      do throws(SessionError) {
        try vault.keep(
          StoredRevocations.Entry(
            token, of: whose, isAccount: configuration.tokenSource != nil))
        revocations.tokens[other] = nil
      } catch {
        // The secrets must be removed anyway. The server is informed from memory while this process
        // lives.
      }
    }
    guard let generation, let user, configuration.tokenSource != nil else { return }
    provider.pendingRemovals.insert(user, for: generation)
    // The session had expired, so nothing of its token is left.
    if revocations.tokens[generation] == nil {
      try vault.keep(StoredRevocations.Entry(account: user, of: generation))
    }
  }

  /// Takes the stored token for the revocation of this generation.
  ///
  /// It is the token itself, or a newer one that replaced it at the server.
  private func takeStored(for generation: Generation) throws(SessionError) {
    let isHeld = revocations.tokens[generation] != nil
    do throws(SecretStoreError) {
      guard let stored = try vault.token() else { return }
      let isSuccessor = coordinator.fold.isSuccessor(
        stored.generation, announcedBy: stored.announcementKind, of: generation)
      if isSuccessor || !isHeld && stored.generation == generation {
        revocations.tokens[generation] = vault.whole(stored).standing(for: generation)
      }
    } catch .newerVersion {
      // This version cannot read the token to revoke it. The user wants it removed nevertheless
      // (RES-8).
    } catch {
      guard isHeld else { throw .secrets(error) }
    }
  }

  /// Returns the user of the session, while the user item still exists; `nil` if it cannot be read.
  private func departingUser() -> Identifier? {
    do throws(SecretStoreError) { return try vault.user()?.profile.id } catch { return nil }
  }

  /// Removes what a revocation needed.
  func forgetRevocation(of generation: Generation) throws(Busy) {
    revocations.forget(generation)
    provider.pendingRemovals.remove(generation)
    do throws(JournalError) {
      peers.undelivered = try log.locked { foreign in
        do throws(SessionError) { try vault.forgetRevocation(of: generation) } catch {
          // The entry stays where it is. It is of no use to any process, and is removed at the next
          // opening.
        }
        return unknown(foreign)
      }
    } catch {
      // The same applies here.
      _ = try settled(error)
    }
  }

  /// Revokes, once, tokens left by a journal that is gone or was quarantined.
  ///
  /// No record here names them, so the attempt is not repeated, and its data does not stay.
  ///
  /// A journal that is missing is searched again before it counts as gone.
  ///
  /// - Requirement: OUT-1, RES-7
  func tellStrayRevocations() async {
    for pause in AbsenceDoubt.repetitions where isOwnerOfStrayRevocationsGone {
      let clock = configuration.clock
      do { try await clock.sleep(untilUptime: clock.now().uptime.addingSaturating(pause)) } catch {
        return
      }
    }
    await takeStrayRevocations()
  }

  private func takeStrayRevocations() async {
    let (entries, others): ([StoredRevocations.Entry], [SessionRecord])
    do throws(JournalError) {
      (entries, others) = try await locked { foreign in
        let others = unknown(foreign)
        guard mayTakeStrayRevocations else { return ([], others) }
        do throws(SecretStoreError) {
          return (try vault.takeStrayRevocations(), others)
        } catch {
          // The item stays where it is until the next opening.
          return ([], others)
        }
      }
    } catch {
      return loseJournal(by: error)
    }
    for entry in entries {
      forget(entry.account)
      if !entry.isOwned { start { _ = await $0.tell(entry, as: .stray) } }
    }
    deliver(others)
  }
}
