import SessionCore
import SessionJournal

/// When the session was used last, as the user item keeps it.
///
/// - Requirement: POL-5
struct LastActivity: Codable, Hashable {
  /// The civil time, in milliseconds since 1970.
  var time: Int64
  /// The clock that never jumps.
  var uptime: Int64
  /// Which start of the system that clock counts from.
  var boot: String?

  /// A use at this uptime.
  init(at uptime: Int64, now: ClockReading, boot: Identifier?) {
    time = now.time.advanced(by: uptime.subtractingSaturating(now.uptime)).milliseconds
    self.uptime = uptime
    self.boot = boot?.description
  }

  /// How long ago that is, in milliseconds: by the clock that never jumps where it is the same one, else
  /// by the civil time.
  func idle(at now: ClockReading, boot: Identifier?) -> Int64 {
    let isSameClock = boot != nil && self.boot == boot?.description && uptime <= now.uptime
    let idle =
      isSameClock
      ? now.uptime.subtractingSaturating(uptime)
      : now.time.milliseconds(since: Timestamp(milliseconds: time))
    return max(0, idle)
  }

  /// The later of this use, which is of this start of the system, and the one that is stored.
  ///
  /// By the clock that never jumps where it is the same one, else by the civil time; a stored use that
  /// lies ahead of now says nothing, since a clock was set back after it.
  func later(or stored: LastActivity?, at now: ClockReading) -> LastActivity {
    guard let stored else { return self }
    if boot != nil, stored.boot == boot, stored.uptime <= now.uptime {
      return stored.uptime > uptime ? stored : self
    }
    return stored.time > time && stored.time <= now.time.milliseconds ? stored : self
  }
}

extension StoredUser {
  /// The same with another profile of the same user, and the source that named them, if it is known.
  func with(_ profile: UserProfile, origin: UserOrigin? = nil) -> StoredUser {
    var changed = StoredUser(
      journal: journal, profile: profile, origin: origin ?? self.origin, path: journalPath
    ).fields
    changed.used = fields.used
    return StoredUser(journal: journal, fields: changed)
  }

  /// The same for a journal at this path.
  func at(_ path: String?) -> StoredUser {
    var changed = fields
    changed.journalPath = path
    return StoredUser(journal: journal, fields: changed)
  }

  /// The same with another last use.
  func with(_ use: LastActivity) -> StoredUser {
    var changed = fields
    changed.used = use
    return StoredUser(journal: journal, fields: changed)
  }
}

extension StoredCredentials {
  /// When the session was used last; `nil` where nothing says so.
  func use() throws(SecretStoreError) -> LastActivity? {
    try find(StoredUser.self).item?.fields.used
  }

  /// The item to store with a token: at a sign-in with its first use, else with the last one that it had.
  ///
  /// `nil` if a newer version wrote the stored one, which only a sign-in replaces.
  func user(
    _ profile: UserProfile, namedBy origin: UserOrigin?, with event: SessionEvent,
    first use: LastActivity?
  ) throws(SessionError) -> StoredUser? {
    let fresh = StoredUser(
      journal: journal.description, profile: profile, origin: origin, path: path)
    if case .login = event { return use.map(fresh.with) ?? fresh }
    let found: Found<StoredUser>
    do { found = try find(StoredUser.self) } catch { throw .secrets(error) }
    guard found.newer == nil else { return nil }
    guard let stored = found.item, stored.profile.id == profile.id else { return fresh }
    return stored.with(profile, origin: origin).at(path)
  }

  /// Changes the item of this user, or a new one where there is none of theirs.
  func changeUser(_ user: Identifier, _ change: (StoredUser) -> StoredUser) throws(SessionError) {
    let owner = journal.description
    let stored: StoredUser?
    do { stored = try readable(StoredUser.self) } catch { throw .secrets(error) }
    let item = stored.flatMap { $0.profile.id == user ? $0 : nil }
    let changed = item ?? StoredUser(journal: owner, profile: UserProfile(id: user), path: path)
    try write(change(changed))
  }
}
