import SessionCore
import SessionJournal

/// How long the session is unused (POL-5), and the user item, which keeps that.
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
      spawn { $0.checkUse() }
      return false
    }
  }

  /// Counts a use, or has the session end that has been unused for too long.
  func settleUse() {
    let uptime = configuration.clock.now().uptime
    switch view.use.count(at: uptime) {
    case .counted: break
    case .tell: feed(.used(uptime))
    case .overdue:
      checkUse()
      // Another process has used it: so does this one.
      if coordinator.state.kind == .authenticated { _ = view.use.count(at: uptime) }
    }
  }

  /// Tells what is known here of the last use, and that the limit may be reached.
  func checkUse() {
    if let last = view.use.last { feed(.used(last)) }
    feed(.fired(.inactivity))
  }

  /// When any process used the session last, in this system's uptime; `nil` where that cannot be read yet.
  func readUse() -> Int64? {
    do throws(SecretStoreError) {
      guard let kept = try vault.use() else { return .min }
      let now = configuration.clock.now()
      return now.uptime.subtractingSaturating(kept.idle(at: now, boot: configuration.boot()))
    } catch {
      return nil
    }
  }

  func idle() -> Int64? {
    guard configuration.policy.inactivityLimit != nil, let last = readUse(), last != .min else {
      return nil
    }
    return configuration.clock.now().uptime.subtractingSaturating(last)
  }

  /// Keeps the last use where other processes and later ones find it.
  func keepUse(at uptime: Int64) {
    let now = configuration.clock.now()
    let stamp = UseStamp(at: uptime, now: now, boot: configuration.boot())
    changeUserItem { $0.with(stamp) }
  }

  /// The same once more, since this process knows it better than what was kept.
  func keepLastUse() {
    guard let last = view.use.last, coordinator.state.kind == .authenticated else { return }
    keepUse(at: last)
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
