import SessionCore
import SessionJournal

/// The time of the session's last use, as the user item stores it.
///
/// - Requirement: POL-5
struct LastActivity: Hashable {
  /// The civil time, in milliseconds since 1970.
  var time: Int64 = 0
  /// The uptime on the monotonic clock, in milliseconds.
  var uptime: Int64 = 0
  /// The identifier of the boot from which the uptime counts.
  var boot: String?

  /// Creates the value of a use at this uptime.
  init(at uptime: Int64, now: ClockReading, boot: Identifier?) {
    time = now.time.advanced(by: uptime.subtractingSaturating(now.uptime)).milliseconds
    self.uptime = uptime
    self.boot = boot?.description
  }

  /// Returns the milliseconds since that use.
  ///
  /// They are measured by the monotonic clock within one boot, else by the civil time.
  func idle(at now: ClockReading, boot: Identifier?) -> Int64 {
    let isSameClock = boot != nil && self.boot == boot?.description && uptime <= now.uptime
    let idle =
      isSameClock
      ? now.uptime.subtractingSaturating(uptime)
      : now.time.milliseconds(since: Timestamp(milliseconds: time))
    return max(0, idle)
  }

  /// Returns the later of this use and the stored one.
  ///
  /// This use belongs to the current boot.
  ///
  /// They are compared by the monotonic clock within one boot, else by the civil time. A stored use
  /// in the future does not count, since a clock was set back after it.
  func later(or stored: LastActivity?, at now: ClockReading) -> LastActivity {
    guard let stored else { return self }
    if boot != nil, stored.boot == boot, stored.uptime <= now.uptime {
      return stored.uptime > uptime ? stored : self
    }
    return stored.time > time && stored.time <= now.time.milliseconds ? stored : self
  }
}

extension LastActivity: ItemFields {
  init() {}

  mutating func visit(_ pass: inout some ItemPass) {
    pass.field("boot", &boot)
    pass.field("time", &time)
    pass.field("uptime", &uptime)
  }
}

extension StoredToken {
  /// The item of a journal that is not missed any more.
  var found: StoredToken {
    var changed = fields
    changed.missed = nil
    return StoredToken(journal: journal, fields: changed)
  }
}

extension StoredUser {
  /// Returns the item with another profile of the same user, and with the source that named the
  /// user, if it is known.
  func with(
    _ profile: UserProfile, origin: UserOrigin? = nil, subject: String? = nil
  ) -> StoredUser {
    var changed = StoredUser(
      journal: journal, profile: profile, origin: origin ?? self.origin,
      subject: subject ?? fields.subject, path: journalPath
    ).fields
    (changed.used, changed.continues) = (fields.used, fields.continues)
    return StoredUser(journal: journal, fields: changed)
  }

  /// Returns the item for a journal at this path.
  func at(_ path: String?) -> StoredUser {
    var changed = fields
    changed.journalPath = path
    return StoredUser(journal: journal, fields: changed)
  }

  /// The item of a journal that is not missed any more.
  var found: StoredUser {
    var changed = fields
    changed.missed = nil
    return StoredUser(journal: journal, fields: changed)
  }

  /// Returns the item with another last use.
  func with(_ use: LastActivity) -> StoredUser {
    var changed = fields
    changed.used = use
    return StoredUser(journal: journal, fields: changed)
  }
}

extension StoredCredentials {
  /// Returns when the session was used last; `nil` if it is not stored.
  func use() throws(SecretStoreError) -> LastActivity? {
    try find(StoredUser.self).item?.fields.used
  }

  /// Returns the user item to store with a token.
  ///
  /// For a sign-in it has the first use, else the last use of the stored item.
  ///
  /// Returns `nil` if a newer version wrote the stored item, since only a sign-in replaces that.
  func user(
    _ profile: UserProfile, of answer: TokenResponse, with event: SessionEvent,
    first use: LastActivity?
  ) throws(SessionError) -> StoredUser? {
    let (origin, subject) = (answer.origin, answer.identitySubject)
    let fresh = StoredUser(
      journal: owner, profile: profile, origin: origin, subject: subject, path: path)
    if case .login = event { return use.map(fresh.with) ?? fresh }
    let found: Found<StoredUser>
    do { found = try find(StoredUser.self) } catch { throw .secrets(error) }
    guard found.newer == nil else { return nil }
    guard let stored = found.item, stored.profile.id == profile.id else { return fresh }
    return stored.with(profile, origin: origin, subject: subject).at(path)
  }

  /// Changes the item of this user.
  ///
  /// If there is none, changes a new item.
  func changeUser(_ user: Identifier, _ change: (StoredUser) -> StoredUser) throws(SessionError) {
    let stored: StoredUser?
    do { stored = try readable(StoredUser.self) } catch { throw .secrets(error) }
    let item = stored.flatMap { $0.profile.id == user ? $0 : nil }
    let changed = item ?? StoredUser(journal: owner, profile: UserProfile(id: user), path: path)
    try write(change(changed))
  }
}
