@_spi(Internals) import SessionCore
import SessionJournal

/// The stored items of one journal's session: what may be in them, and in which order they change.
struct StoredCredentials: Sendable {
  let store: any SecretStore
  let journal: JournalIdentifier
  /// Where that journal stands, for a process that finds its items with another one.
  var path: String?
  /// Who receives what is stored; without one, items are not bound.
  var binding: BackendBinding?

  /// What was found, with its secrets.
  struct Contents {
    var facts = StoredItemsReport()
    var token: StoredToken?
    var profile: UserProfile?
    /// Which source named that user; `nil` if that is not known.
    var origin: UserOrigin?
    /// The users whose accounts a provider is still to forget.
    var accounts: [(token: Generation, account: Identifier)] = []
    /// Whether there is what revocations of another journal's logouts need.
    var hasStrayRevocations = false
    /// Why nothing could be read.
    var problem: SecretStoreError?
    /// The first item that a newer version of this library wrote.
    var newer: SecretStoreError?
  }

  /// Looks at every item; what cannot be read as what it should be is kept aside.
  ///
  /// A store that refuses to answer is never an empty one.
  ///
  /// - Requirement: RES-3
  func readStoredItems() -> Contents {
    var contents = Contents()
    do {
      let token = try find(StoredToken.self)
      let user = try find(StoredUser.self)
      let revocations = try findRevocations()
      contents.facts.token = token.condition
      contents.facts.user = user.condition
      let context = try find(StoredContext.self)
      contents.facts.context = context.condition
      contents.facts.revocations = revocations.item?.entries.map(\.token) ?? []
      contents.accounts = (revocations.item?.entries ?? []).compactMap { entry in
        entry.account.map { (entry.token, $0) }
      }
      contents.hasStrayRevocations = revocations.condition == .otherJournal
      contents.facts.hasUnreadRevocations = revocations.condition == .newerVersion
      contents.newer = token.newer ?? user.newer ?? context.newer ?? revocations.newer
      contents.facts.generation = token.item?.generation ?? .none
      contents.facts.announcement = token.item?.announcement
      contents.facts.sessionEnd = token.item?.sessionEnd
      contents.token = token.item
      (contents.profile, contents.origin) = (user.item?.profile, user.item?.origin)
    } catch {
      contents = Contents()
      contents.facts.isLocked = true
      contents.problem = error
    }
    return contents
  }

  /// The same for what revocations need; one of another backend is kept, as one of a newer version.
  private func findRevocations() throws(SecretStoreError) -> Found<StoredRevocations> {
    do throws(SecretStoreError) { return try find(StoredRevocations.self) } catch {
      guard case .otherBackend = error else { throw error }
      return Found(condition: .newerVersion)
    }
  }

  /// What was found of one item.
  struct Found<Item: StoredItem> {
    var condition: StoredItemsReport.Item
    var item: Item?
    /// That a newer version of this library wrote it.
    var newer: SecretStoreError?
  }

  /// Reads an item and says what it is; bytes that no version can read are kept aside.
  ///
  /// An item of a newer version is neither read nor moved.
  func find<Item: StoredItem>(_: Item.Type) throws(SecretStoreError) -> Found<Item> {
    guard let bytes = try store.read(Item.item) else { return Found(condition: .absent) }
    try binding?.refuse(Item.self, bytes)
    do {
      let item = try Item(decoding: bytes)
      guard item.journal == journal.description else { return Found(condition: .otherJournal) }
      return Found(condition: .present, item: item)
    } catch .newerVersion(let item, let found) {
      return Found(
        condition: .newerVersion, newer: .newerVersion(item: item, found: found))
    } catch {
      try store.setAside(Item.item)
      return Found(condition: .unreadable)
    }
  }

  /// An item if it is this journal's and readable; throws if a newer version wrote it.
  func readable<Item: StoredItem>(_ type: Item.Type) throws(SecretStoreError) -> Item? {
    let found = try find(type)
    if let newer = found.newer { throw newer }
    return found.item
  }

  /// The stored token, where it is this journal's and readable.
  func token() throws(SecretStoreError) -> StoredToken? {
    try readable(StoredToken.self)
  }

  /// The event that announces the stored token, where that is newer than the one of this generation.
  ///
  /// Where it is not to be known, because nothing can be read yet, it throws.
  func announcement(newerThan newest: Generation?) throws(SessionError) -> SessionEvent? {
    guard let newest else { return nil }
    do throws(SecretStoreError) {
      guard let token = try token(), token.generation > newest else { return nil }
      let event = token.announcement
      return event?.announcedToken?.generation == token.generation ? event : nil
    } catch {
      throw .secrets(error)
    }
  }

  /// The stored user item, if it is this journal's and readable.
  func user() throws(SecretStoreError) -> StoredUser? {
    try readable(StoredUser.self)
  }

  /// What revocations still need, where it is this journal's and readable; oldest first.
  func revocations() throws(SecretStoreError) -> [StoredRevocations.Entry] {
    try readable(StoredRevocations.self)?.entries ?? []
  }

  /// Makes an answer durable under the batch that announces it; the token item last.
  ///
  /// - Requirement: REF-7
  func store(
    _ answer: TokenResponse, announcedBy commit: SessionCommit, replacing old: StoredToken?,
    boot: Identifier?, firstUse: LastActivity?, isOwned: Bool
  ) throws(SessionError) -> StoredToken? {
    guard let event = commit.announcement, let facts = event.announcedToken else { return nil }
    let owner = journal.description
    if let context = commit.context {
      try write(StoredContext(journal: owner, generation: facts.generation, context: context))
    }
    if let profile = answer.user,
      let user = try user(profile, namedBy: answer.origin, with: event, first: firstUse)
    {
      try write(user)
    }
    if case .login = event { try removeNewer(keeping: commit.context, answer.user) }
    let (refresh, place) = try place(answer, of: facts.generation, replacing: old)
    let token = StoredToken(
      journal: owner, facts: facts, access: answer.access, refresh: refresh, refreshPlace: place,
      announcement: event, at: commit.time, boot: boot, deadline: commit.deadline,
      path: path, isOwned: isOwned, sessionEnd: commit.sessionEnd)
    try write(token)
    tidy(token)
    return token
  }

  func write(_ item: some StoredItem) throws(SessionError) {
    let bytes: [UInt8]
    do { bytes = try item.encoded(for: binding?.backend) } catch {
      throw .unreadableAnswer("what it holds cannot be stored")
    }
    do { try store.write(type(of: item).item, bytes) } catch { throw .secrets(error) }
  }

  /// Removes items of a newer version that a sign-in does not write: they belong to the session that it
  /// replaces.
  private func removeNewer(keeping context: ActiveContext?, _ user: UserProfile?)
    throws(SessionError)
  {
    do throws(SecretStoreError) {
      if context == nil, try find(StoredContext.self).newer != nil { try store.remove(.context) }
      if user == nil, try find(StoredUser.self).newer != nil { try store.remove(.user) }
    } catch {
      throw .secrets(error)
    }
  }

  /// Removes what the wipe names, and with the token item a refresh token that is apart from it.
  ///
  /// An item that a newer version wrote goes with a logout only.
  ///
  /// - Requirement: RES-8
  func wipe(_ wipe: SessionEffect.Wipe, of token: StoredToken?) throws(SessionError) {
    var kept: [SecretItem] = []
    if wipe.extent != .everything {
      for item in wipe.items where try isNewer(item) { kept.append(item) }
    }
    var failure: SessionError?
    // Before the token item, which says that it is there.
    let isApart = store.separatesRefreshToken || token?.fields.refreshPlace != nil
    let hasApart = isApart && !wipe.items.isEmpty && !kept.contains(.token)
    let apart: [SecretItem] = hasApart ? [.refreshToken] : []
    for item in apart + wipe.items where !kept.contains(item) {
      do throws(SecretStoreError) {
        try store.remove(item)
        if wipe.extent == .everything { try store.removeSetAside(item) }
      } catch {
        failure = .secrets(error)
      }
    }
    if let failure { throw failure }
  }

  /// Whether a newer version wrote the item; nothing is moved aside.
  private func isNewer(_ item: SecretItem) throws(SessionError) -> Bool {
    do throws(SecretStoreError) {
      return try store.read(item).map(isOfNewerVersion) ?? false
    } catch {
      throw .secrets(error)
    }
  }

  /// Removes a token that was stored for a sign-in which came to nothing, where it is still the stored
  /// one; what cannot be removed is written over by one that nothing announces.
  func undo(_ token: StoredToken) throws(SessionError) {
    do throws(SecretStoreError) {
      guard let stored = try self.token(), stored.generation == token.generation,
        stored.access == token.access
      else { return }
      do throws(SecretStoreError) {
        if stored.fields.refreshPlace != nil { try store.remove(.refreshToken) }
        return try store.remove(.token)
      } catch {
        // Below.
      }
    } catch {
      throw .secrets(error)
    }
    try write(token.unannounced)
  }

  /// Keeps what a revocation needs, beside what others need; under the journal's lock.
  func keep(_ entry: StoredRevocations.Entry) throws(SessionError) {
    let kept = try keptRevocations()
    // A wipe was cut short that has removed the refresh token already.
    if entry.refresh == nil, kept.contains(where: { $0.token == entry.token }) { return }
    try replaceRevocations(kept.filter { $0.token != entry.token } + [entry])
  }

  /// Replaces what one revocation needs, in its place; under the journal's lock.
  func update(_ entry: StoredRevocations.Entry) throws(SessionError) {
    var entries = try keptRevocations()
    if let index = entries.firstIndex(where: { $0.token == entry.token }) {
      entries[index] = entry
    } else {
      entries.append(entry)
    }
    try replaceRevocations(entries)
  }

  /// Removes what one revocation needed, and leaves the others theirs; under the journal's lock.
  func forgetRevocation(of generation: Generation) throws(SessionError) {
    let all = try keptRevocations()
    let others = all.filter { $0.token != generation }
    if others.count < all.count { try replaceRevocations(others) }
  }

  private func keptRevocations() throws(SessionError) -> [StoredRevocations.Entry] {
    do throws(SecretStoreError) { return try revocations() } catch { throw .secrets(error) }
  }

  private func replaceRevocations(_ entries: [StoredRevocations.Entry]) throws(SessionError) {
    if let item = StoredRevocations(journal: journal.description, entries: entries, path: path) {
      return try write(item)
    }
    do throws(SecretStoreError) { try store.remove(.revocation) } catch { throw .secrets(error) }
  }
}

extension SessionEffect.Wipe {
  /// What goes, the token first, so that nothing half wiped can be used.
  fileprivate var items: [SecretItem] {
    switch extent {
    case .token: [.token]
    case .session, .everything: [.token, .context, .user]
    case .nothing: []
    }
  }
}
