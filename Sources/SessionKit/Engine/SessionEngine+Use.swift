@_spi(Internals) import SessionCore
import SessionJournal

/// The time of the last use, and the user item, which stores it.
///
/// - Requirement: POL-5
extension SessionEngine {
  /// Counts a use that happens now.
  ///
  /// Returns `false` if the session has been unused for too long, and is to end or to be locked.
  ///
  /// Any thread may call this. It takes no lock and allocates nothing. At intervals it reports the
  /// use, so that other processes learn of it.
  nonisolated func use(at uptime: Int64) -> Bool {
    switch view.use.count(at: uptime) {
    case .counted: return true
    case .tell:
      spawn { $0.feed(.used(uptime)) }
      return true
    case .overdue:
      // Further calls get the same answer. The timer tries again what could not be done.
      if view.use.isDue(at: uptime) { spawn { $0.checkUse() } }
      return false
    }
  }

  /// Counts a use, or ends a session that has been unused for too long.
  ///
  /// Throws if that end cannot be journaled now, or if the time of the last use cannot be read.
  /// Until then, its token is not given to any caller.
  func recordActivity() async throws(SessionError) {
    let uptime = configuration.clock.now().uptime
    switch view.use.count(at: uptime) {
    case .counted: break
    case .tell: feed(.used(uptime))
    case .overdue:
      checkUse()
      await idle()
      guard coordinator.state.kind == .authenticated, !coordinator.isStopped else { return }
      // Another process has used the session, so it is not over. This use counts too.
      switch view.use.count(at: uptime) {
      case .counted: break
      case .tell: feed(.used(uptime))
      case .overdue: throw problems.commit ?? .secretsUnavailable
      }
    }
  }

  /// Reports the last use that is known here, and that the limit may be reached.
  func checkUse() {
    if let last = view.use.last { feed(.used(last)) }
    feed(.fired(.inactivity))
    feed(.fired(.lifetime))
  }

  /// Returns when any process used the session last, in this system's uptime; `nil` if that is not
  /// known yet.
  func readUse() -> Int64? {
    do throws(SecretStoreError) {
      if let idle = try keptIdleTime() {
        return configuration.clock.now().uptime.subtractingSaturating(idle)
      }
    } catch {
      return nil
    }
    // The stored time was lost. Other processes may have used the session too, so this one stores
    // what it knows and reads again later.
    let last = coordinator.lastUse
    start { await $0.persistActivity(at: last) }
    return nil
  }

  /// Returns for how long the session was unused; `nil` if no record of it exists.
  func idleTime() -> Int64? {
    guard policy.useLimit != nil else { return nil }
    do throws(SecretStoreError) { return try keptIdleTime() } catch { return nil }
  }

  private func keptIdleTime() throws(SecretStoreError) -> Int64? {
    let clock = configuration.clock
    return try vault.use()?.idle(at: clock.now(), boot: clock.boot)
  }

  /// Returns the first use, which the login itself is.
  func firstUse() -> LastActivity? {
    guard policy.useLimit != nil else { return nil }
    let now = configuration.clock.now()
    return LastActivity(at: now.uptime, now: now, boot: configuration.clock.boot)
  }

  /// Stores a use for other processes and later ones, unless a later use is already stored.
  func persistActivity(at uptime: Int64) async {
    let clock = configuration.clock
    await changeUserItem { user in
      // The clock is read under the lock, so that no other process's use is later than `now`.
      let now = clock.now()
      let stamp = LastActivity(at: uptime, now: now, boot: clock.boot)
      return user.with(stamp.later(or: user.fields.used, at: now))
    }
  }

  /// Stores the last use of this process, if it used the session.
  ///
  /// This is more exact than the value stored before.
  func keepLastUse() async {
    guard view.use.isOwn, let last = view.use.last, coordinator.state.kind == .authenticated else {
      return
    }
    await persistActivity(at: last)
  }

  /// Changes the user item under the journal's lock.
  func changeUserItem(_ change: (StoredUser) -> StoredUser) async {
    await changeItems { (user) throws(SessionError) in try vault.changeUser(user, change) }
  }

  /// Stores that the journal is not missed any more.
  ///
  /// - Requirement: RES-7
  func noteFound() async {
    await changeItems { (_) throws(SessionError) in try vault.noteFound() }
  }

  /// Changes items of the session's user under the journal's lock.
  ///
  /// An item of another process's sign-in is not touched.
  private func changeItems(_ change: (Identifier) throws(SessionError) -> Void) async {
    // A second try if peers had appended first.
    for _ in 0..<2 {
      if await tryItems(change) { return }
    }
  }

  /// Tries to change items.
  ///
  /// Returns `false` if it must be tried again at once.
  private func tryItems(_ change: (Identifier) throws(SessionError) -> Void) async -> Bool {
    guard let user = coordinator.state.user else { return true }
    do throws(JournalError) {
      let others = try await locked { foreign in
        let others = unknown(foreign)
        // While the log was busy, the user may have changed.
        guard others.isEmpty, coordinator.state.user == user else { return others }
        do throws(SessionError) { try change(user) } catch {
          // The value is stored again before long, and nothing depends on it until then.
        }
        return []
      }
      deliver(others)
      return others.isEmpty
    } catch {
      // The same applies to a journal that cannot be locked now.
      return true
    }
  }
}
