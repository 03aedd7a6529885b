@_spi(Internals) import SessionCore
import SessionJournal

/// What goes of a session that has ended, and what is kept to tell the server of it.
///
/// Both under the journal's lock: items are changed by whoever knows the journal as it is. Others'
/// records that are met there are told before anything else is decided.
extension SessionEngine {
  /// Removes items: what another process signed in to is not touched.
  func perform(_ wipe: SessionEffect.Wipe) {
    let held = token
    if wipe.extent != .nothing { token = nil }
    if let generation = wipe.keptRevocation, let held, held.generation == generation {
      // One that was stored and not announced has taken its place: the server knows that one.
      let newer = unjournaledToken.flatMap { $0.token.generation > generation ? $0.token : nil }
      tokensToRevoke[generation] = vault.whole(newer ?? held).standing(for: generation)
    }
    var others: [SessionRecord] = []
    var isDone = true
    do throws(JournalError) {
      _ = try journal.transact { foreign in
        others = unknown(foreign)
        guard others.isEmpty else { return [] }
        do throws(SessionError) {
          try keepRevocations(wipe.keptRevocation)
          if case .unread(let problem) = secretsOwner { throw .secrets(problem) }
          if foreignOwner == nil { try vault.wipe(wipe, of: held) }
        } catch {
          isDone = false
        }
        return []
      }
    } catch {
      isDone = false
      loseJournal(by: error)
    }
    if isDone, others.isEmpty { loginToRollBack = nil }
    undoLogin()
    guard others.isEmpty else {
      token = held
      // Whatever follows in the list of effects is decided without them.
      undeliveredPeerRecords = others
      return inbox.insert(.wiped(.overtaken([])), at: 0)
    }
    inbox.append(.wiped(isDone ? .done : .failed))
  }

  /// A sign-in that its caller is told has failed must not come back at the next opening, as a token that
  /// was stored before a crash kept its event out would.
  ///
  /// Without the lock where it cannot be had, which is why only the very token that was stored goes; where
  /// it cannot be removed, it loses the event that announces it. Where nothing can be written either, it
  /// is tried again with the next wipe.
  private func undoLogin() {
    guard let loginToRollBack else { return }
    do throws(SessionError) {
      try vault.undo(loginToRollBack)
      self.loginToRollBack = nil
    } catch {
      // The wipe that has failed as well is tried again.
    }
  }

  /// Stores what revoking the ended sessions' tokens needs, before the token item goes: that of this
  /// generation, and what could not be stored before.
  ///
  /// Throws where the token item cannot be read, and so must not go.
  private func keepRevocations(_ generation: Generation?) throws(SessionError) {
    if let generation { try takeStored(for: generation) }
    let user = departingUser()
    for (other, token) in tokensToRevoke {
      // One that could not be stored before may be another user's.
      let whose = other == generation ? user : owed.user(of: other)
      do throws(SessionError) {
        try vault.keep(
          StoredRevocations.Entry(
            token, of: whose, isAccount: configuration.tokenSource != nil))
        tokensToRevoke[other] = nil
      } catch {
        // The secrets must go all the same: the server is told from memory, while this process lives.
      }
    }
    guard let generation, let user, configuration.tokenSource != nil else { return }
    owed.insert(user, for: generation)
    // Of a session that had expired: nothing of its token is left.
    if tokensToRevoke[generation] == nil {
      try vault.keep(StoredRevocations.Entry(account: user, of: generation))
    }
  }

  /// Takes the stored token for the revocation of this one: the token itself, or a newer one that
  /// replaced it at the server.
  private func takeStored(for generation: Generation) throws(SessionError) {
    let isHeld = tokensToRevoke[generation] != nil
    do throws(SecretStoreError) {
      guard let stored = try vault.token() else { return }
      if isSuccessor(stored, of: generation) || !isHeld && stored.generation == generation {
        tokensToRevoke[generation] = vault.whole(stored).standing(for: generation)
      }
    } catch .newerVersion {
      // This version cannot read the token to revoke it; the user wants it gone even so (RES-8).
    } catch {
      guard isHeld else { throw .secrets(error) }
    }
  }

  /// Whether a stored token is of the session that ended with this one as its last in the journal: the
  /// process that stored it died, or could not write, before its event was journaled.
  ///
  /// - Requirement: OUT-6
  private func isSuccessor(_ stored: StoredToken, of generation: Generation) -> Bool {
    let fold = coordinator.fold
    return fold.state.kind != .authenticated && generation == fold.generation
      && stored.generation > generation && !stored.announcementIsLogin
  }

  /// Whose the session was, while the user item is still there; `nil` where it cannot be told.
  private func departingUser() -> Identifier? {
    do throws(SecretStoreError) { return try vault.user()?.profile.id } catch { return nil }
  }

  /// Removes what a revocation needed.
  func forgetRevocation(of generation: Generation) {
    tokensToRevoke[generation] = nil
    unkept[generation] = nil
    owed.remove(generation)
    do throws(JournalError) {
      _ = try journal.transact { foreign in
        undeliveredPeerRecords = unknown(foreign)
        do throws(SessionError) { try vault.forgetRevocation(of: generation) } catch {
          // It stays where it is, of no use to anybody, and is removed at the next open.
        }
        return []
      }
    } catch {
      // The same.
    }
  }

  /// The logouts of a journal that is gone, or was set aside, which the server was not told of: nothing
  /// here names them, so it is told once, and what that needs does not stay.
  ///
  /// A journal that is not found is looked for again before it counts as gone.
  ///
  /// - Requirement: OUT-1, RES-7
  func tellStrayRevocations() async {
    for pause in AbsenceDoubt.repetitions where isOwnerOfStrayRevocationsGone {
      let clock = configuration.clock
      do { try await clock.sleep(untilUptime: clock.now().uptime.addingSaturating(pause)) } catch {
        return
      }
    }
    takeStrayRevocations()
  }

  private func takeStrayRevocations() {
    var entries: [StoredRevocations.Entry] = []
    var others: [SessionRecord] = []
    do throws(JournalError) {
      _ = try journal.transact { foreign in
        others = unknown(foreign)
        guard mayTakeStrayRevocations else { return [] }
        do throws(SecretStoreError) { entries = try vault.takeStrayRevocations() } catch {
          // It stays where it is until the next opening.
        }
        return []
      }
    } catch {
      loseJournal(by: error)
    }
    for entry in entries {
      forget(entry.account)
      if !entry.isOwned { spawn { _ = await $0.tell(entry, as: .stray) } }
    }
    if !others.isEmpty { feed(.observed(others, isHolderGone: false)) }
  }
}
