@_spi(Internals) import SessionCore
import SessionJournal

/// How long the session is unused, and the user item, which keeps that.
///
/// - Requirement: POL-5
extension SessionEngine {
  /// Counts a use that happens now; `false` where the session has been unused for too long.
  ///
  /// For any thread: no lock, nothing allocated, nothing written, but once in a while for others to know.
  nonisolated func use(at uptime: Int64) -> Bool {
    switch view.use.count(at: uptime) {
    case .counted: return true
    case .tell:
      spawn { $0.feed(.used(uptime)) }
      return true
    case .overdue:
      // Whoever asks again and again is told the same; what could not be done is tried by the timer.
      if view.use.isDue(at: uptime) { spawn { $0.checkUse() } }
      return false
    }
  }

  /// Counts a use, or has the session end that has been unused for too long.
  ///
  /// Throws where that end cannot be journaled now, or when it was used last cannot be read: its token is
  /// nobody's till then.
  func recordActivity() throws(SessionError) {
    let uptime = configuration.clock.now().uptime
    switch view.use.count(at: uptime) {
    case .counted: break
    case .tell: feed(.used(uptime))
    case .overdue:
      checkUse()
      guard coordinator.state.kind == .authenticated, !coordinator.isStopped else { return }
      // Another process has used it: so does this one.
      switch view.use.count(at: uptime) {
      case .counted: break
      case .tell: feed(.used(uptime))
      case .overdue: throw commitError ?? .secretsUnavailable
      }
    }
  }

  /// Tells what is known here of the last use, and that the limit may be reached.
  func checkUse() {
    if let last = view.use.last { feed(.used(last)) }
    feed(.fired(.inactivity))
    feed(.fired(.lifetime))
  }

  /// When any process used the session last, in this system's uptime; `nil` where that cannot be told yet.
  func readUse() -> Int64? {
    do throws(SecretStoreError) {
      if let idle = try keptIdle() {
        return configuration.clock.now().uptime.subtractingSaturating(idle)
      }
    } catch {
      return nil
    }
    // It was lost: others are no less users than this process, which says what it knows and looks again.
    let last = coordinator.lastUse
    spawn { $0.persistActivity(at: last) }
    return nil
  }

  /// How long nobody had used the session; `nil` where nothing says so.
  func idle() -> Int64? {
    guard policy.inactivityLimit != nil else { return nil }
    do throws(SecretStoreError) { return try keptIdle() } catch { return nil }
  }

  private func keptIdle() throws(SecretStoreError) -> Int64? {
    let clock = configuration.clock
    return try vault.use()?.idle(at: clock.now(), boot: clock.boot)
  }

  /// The use that signing in is.
  func firstUse() -> LastActivity? {
    guard policy.inactivityLimit != nil else { return nil }
    let now = configuration.clock.now()
    return LastActivity(at: now.uptime, now: now, boot: configuration.clock.boot)
  }

  /// Keeps a use where other processes and later ones find it, unless a later one is kept there.
  func persistActivity(at uptime: Int64) {
    let clock = configuration.clock
    changeUserItem { user in
      // Looked at under the lock, so that no other process's use lies ahead of it.
      let now = clock.now()
      let stamp = LastActivity(at: uptime, now: now, boot: clock.boot)
      return user.with(stamp.later(or: user.fields.used, at: now))
    }
  }

  /// The same once more, where this process has used the session and knows it better than what was kept.
  func keepLastUse() {
    guard view.use.isOwn, let last = view.use.last, coordinator.state.kind == .authenticated else {
      return
    }
    persistActivity(at: last)
  }

  /// Changes the user item under the journal's lock: what another process signed in to is not touched.
  func changeUserItem(_ change: (StoredUser) -> StoredUser) {
    // Once more where others had appended first.
    for _ in 0..<2 where tryUserItem(change) { return }
  }

  /// Whether that is all that can be done now.
  private func tryUserItem(_ change: (StoredUser) -> StoredUser) -> Bool {
    guard let user = coordinator.state.user else { return true }
    var others: [SessionRecord] = []
    do throws(JournalError) {
      _ = try journal.transact { foreign in
        others = read(foreign)
        guard others.isEmpty else { return [] }
        do throws(SessionError) { try vault.changeUser(user, change) } catch {
          // What it would have said is said again before long, and nothing depends on it till then.
        }
        return []
      }
    } catch {
      // The same of a journal that cannot be locked now.
    }
    if !others.isEmpty { feed(.observed(others, isHolderGone: false)) }
    return others.isEmpty
  }
}
