@_spi(Internals) import SessionCore
import SessionJournal

/// The stored items of one journal's session: their contents, and the order in which they change.
struct StoredCredentials: Sendable {
  let store: any SecretStore
  let journal: JournalIdentifier
  /// The identifier as the items spell it.
  let owner: String
  /// The path of that journal.
  ///
  /// A process with another journal that finds the items needs it.
  var path: String?
  /// The backend that receives the stored tokens; `nil` if the items are not bound to one.
  var binding: BackendBinding?
  let continued = ContinuedJournals()

  init(
    store: any SecretStore, journal: JournalIdentifier, path: String? = nil,
    binding: BackendBinding? = nil
  ) {
    (self.store, self.journal, owner) = (store, journal, journal.description)
    (self.path, self.binding) = (path, binding)
  }

  /// The items that were found, with their secrets.
  struct Contents {
    var facts = StoredItemsReport()
    var token: StoredToken?
    var user: StoredUser?
    /// The users whose accounts a provider still has to remove.
    var accounts: [(token: Generation, account: Identifier)] = []
    /// Whether entries for revocations of another journal's logouts are stored.
    var hasStrayRevocations = false
    /// The journal that wrote the token, if it continues this one.
    var successor: String?
    /// Why nothing could be read.
    var problem: SecretStoreError?
    /// The error of the first item that a newer version of this library wrote.
    var newer: SecretStoreError?
  }

  /// Reads every item.
  ///
  /// Items that cannot be decoded are moved aside.
  ///
  /// A store that refuses to answer never counts as an empty one.
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
      contents.facts.revocations =
        revocations.item?.entries.filter { $0.isPage != true }.map(\.token) ?? []
      contents.accounts = (revocations.item?.entries ?? []).compactMap { entry in
        entry.account.map { (entry.token, $0) }
      }
      contents.hasStrayRevocations = revocations.condition == .otherJournal
      contents.facts.hasUnreadRevocations = revocations.condition == .newerVersion
      contents.newer = token.newer ?? user.newer ?? context.newer ?? revocations.newer
      contents.facts.generation = token.item?.generation ?? .none
      contents.facts.announcement = token.item?.announcement
      if contents.facts.announcement == nil {
        contents.facts.unreadAnnouncement = token.item?.announcementKind
      }
      contents.facts.sessionEnd = token.item?.sessionEnd
      contents.token = token.item
      if let item = token.item, item.journal != owner { contents.successor = item.journal }
      continued.add((token.item?.continues ?? []) + (user.item?.continues ?? []), to: owner)
      contents.user = user.item
    } catch {
      contents = Contents()
      contents.facts.isLocked = true
      contents.problem = error
    }
    return contents
  }

  /// Finds the entries of revocations.
  ///
  /// Those of another backend are kept, like those of a newer version.
  private func findRevocations() throws(SecretStoreError) -> Found<StoredRevocations> {
    do throws(SecretStoreError) { return try find(StoredRevocations.self) } catch {
      guard case .otherBackend = error else { throw error }
      return Found(condition: .newerVersion)
    }
  }

  /// The result of reading one item.
  struct Found<Item: StoredItem> {
    var condition: StoredItemsReport.Item
    var item: Item?
    /// The error if a newer version of this library wrote the item.
    var newer: SecretStoreError?
  }

  /// Reads an item and returns its condition.
  ///
  /// Bytes that no version can read are moved aside.
  ///
  /// An item of a newer version is neither read nor moved.
  func find<Item: StoredItem>(_: Item.Type) throws(SecretStoreError) -> Found<Item> {
    guard let bytes = try store.read(Item.item) else { return Found(condition: .absent) }
    if let whole = WholeItem<Item>(bytes) {
      try binding?.refuse(Item.self, of: whole.backend)
      return found(whole.item)
    }
    try binding?.refuse(Item.self, bytes)
    do {
      return found(try Item(decoding: bytes))
    } catch .newerVersion(let item, let found) {
      return Found(
        condition: .newerVersion, newer: .newerVersion(item: item, found: found))
    } catch {
      try store.setAside(Item.item)
      return Found(condition: .unreadable)
    }
  }

  private func found<Item: StoredItem>(_ item: Item) -> Found<Item> {
    isOwn(item)
      ? Found(condition: .present, item: item) : Found(condition: .otherJournal)
  }

  /// Whether an item is this journal's, or was taken back from a journal that continues it.
  ///
  /// - Requirement: RES-7
  func isOwn(_ item: some StoredItem) -> Bool {
    guard item.journal != owner else { return true }
    return item.continues.contains(owner) && continued.journals.contains(item.journal)
  }

  /// Returns an item if it is this journal's and readable.
  ///
  /// Throws if a newer version wrote it.
  func readable<Item: StoredItem>(_ type: Item.Type) throws(SecretStoreError) -> Item? {
    let found = try find(type)
    if let newer = found.newer { throw newer }
    return found.item
  }

  /// Returns the stored token, if it is this journal's and readable.
  func token() throws(SecretStoreError) -> StoredToken? {
    try readable(StoredToken.self)
  }

  /// Returns the event that announces the stored token, if the token is newer than this generation.
  ///
  /// Throws if that cannot be determined, because nothing can be read yet.
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

  /// Returns the stored user item, if it is this journal's and readable.
  func user() throws(SecretStoreError) -> StoredUser? {
    try readable(StoredUser.self)
  }

  /// Returns the entries of revocations, oldest first, if they are this journal's and readable.
  func revocations() throws(SecretStoreError) -> [StoredRevocations.Entry] {
    try allRevocations().filter { $0.isPage != true }
  }

  private func allRevocations() throws(SecretStoreError) -> [StoredRevocations.Entry] {
    try readable(StoredRevocations.self)?.entries ?? []
  }

  /// Stores a response durably before the batch that announces it.
  ///
  /// The token item is written last.
  ///
  /// - Requirement: REF-7
  func store(
    _ answer: TokenResponse, announcedBy commit: SessionCommit, replacing old: StoredToken?,
    boot: Identifier?, firstUse: LastActivity?, isOwned: Bool
  ) throws(SessionError) -> StoredToken? {
    guard let event = commit.announcement, let facts = event.announcedToken else { return nil }
    continued.add(answer.continues, to: owner)
    if let context = commit.context {
      let item = StoredContext(journal: owner, generation: facts.generation, context: context)
      // A policy may require the item, and nothing brings it again. So without one, the response waits.
      let isFirst: Bool
      do throws(SecretStoreError) { isFirst = try store.read(.context) == nil } catch {
        throw .secrets(error)
      }
      if isFirst { try write(item) } else { try write(item, beside: event) }
    }
    if let profile = answer.user,
      let user = try user(profile, of: answer, with: event, first: firstUse)
    {
      try write(user, beside: event)
    }
    if case .login = event { try removeOthers(keeping: commit.context, answer.user) }
    let (refresh, place) = try place(answer, of: facts.generation, replacing: old)
    let token = StoredToken(
      journal: owner, facts: facts, access: answer.access, refresh: refresh, refreshPlace: place,
      announcement: event, at: commit.time, boot: boot, deadline: commit.deadline,
      path: path, isOwned: isOwned, sessionEnd: commit.sessionEnd,
      identity: identity(in: answer, after: event, replacing: old), boundKey: answer.boundKey
    ).continuing(continued.journals)
    try write(token)
    tidy(token)
    return token
  }

  /// Reserves room for the items without which a response is lost, before its request is journaled.
  ///
  /// A response may bring a longer token, for example one for a context with more permissions. A
  /// server seldom accepts a token that is 4 KiB longer (`Specs/Decisions/a-full-disk.md`). The
  /// refresh token's item is not read, since that may require the user's presence.
  ///
  /// - Requirement: REF-20
  func reserve(replacing held: StoredToken?) throws(SessionError) {
    // A tool on a full disk refreshed, could not store the response and ended. Its next run sent
    // the old token again, and the server ended the session. To ask for the free bytes was
    // rejected: that shows no quota, no limit on file sizes and no missing right, and another
    // program can take them before the response arrives.
    guard store.reservesRoom else { return }
    var present = 0
    do throws(SecretStoreError) { present = try store.read(.token)?.count ?? 0 } catch {
      // The token in memory can be refreshed, and its successor replaces the item. The store's failure is
      // journaled.
      present = held.map { WholeItem($0, for: binding?.backend).encoded.count } ?? 0
    }
    do throws(SecretStoreError) {
      if store.separatesRefreshToken { try store.reserve(.refreshToken, bytes: Self.growth) }
      try store.reserve(.token, bytes: present + Self.growth)
    } catch {
      throw .secrets(error)
    }
  }

  private static let growth = 4096

  /// Stores the user or the context of a response.
  ///
  /// If that fails, the token is stored nevertheless: it has its reserve, and the server may accept no
  /// other. The journal has the context, and the next response brings the item again.
  private func write(_ item: some StoredItem, beside event: SessionEvent) throws(SessionError) {
    if case .login = event { return try write(item) }
    let (kind, bytes) = (type(of: item).item, encoded(item))
    do throws(SecretStoreError) {
      // Many servers name the user in each response, and a write costs two syncs before the token is stored.
      if try store.read(kind) != bytes { try store.write(kind, bytes) }
    } catch {
      // As above: the next response brings it again.
    }
  }

  func write(_ item: some StoredItem) throws(SessionError) {
    do { try store.write(type(of: item).item, encoded(item)) } catch { throw .secrets(error) }
  }

  private func encoded(_ item: some StoredItem) -> [UInt8] {
    item.continuing(continued.journals).encoded(for: binding?.backend)
  }

  /// Removes items of a newer version, or of another journal, that a sign-in does not overwrite.
  ///
  /// They belong to the session that it replaces.
  private func removeOthers(keeping context: ActiveContext?, _ user: UserProfile?)
    throws(SessionError)
  {
    let replaced: Set<StoredItemsReport.Item> = [.newerVersion, .otherJournal]
    do throws(SecretStoreError) {
      if context == nil, replaced.contains(try find(StoredContext.self).condition) {
        try store.remove(.context)
      }
      if user == nil, replaced.contains(try find(StoredUser.self).condition) {
        try store.remove(.user)
      }
    } catch {
      throw .secrets(error)
    }
  }

  /// Removes the items that the wipe names.
  ///
  /// A separate refresh token is removed with the token item.
  ///
  /// Only a logout removes an item that a newer version wrote. A wipe that spares others leaves the
  /// items of a journal that is missed.
  ///
  /// - Requirement: RES-7, RES-8
  func wipe(_ wipe: SessionEffect.Wipe, of token: StoredToken?) throws(SessionError) {
    var kept: [SecretItem] = []
    if wipe.extent != .everything {
      for item in wipe.items where try isNewer(item) { kept.append(item) }
    }
    if wipe.sparesOthers {
      for item in wipe.items where try isOthers(item) { kept.append(item) }
    }
    var failure: SessionError?
    // Removed before the token item, which says that the refresh token exists.
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

  private func isOthers(_ item: SecretItem) throws(SessionError) -> Bool {
    do throws(SecretStoreError) {
      return switch item {
      case .token: try find(StoredToken.self).condition == .otherJournal
      case .user: try find(StoredUser.self).condition == .otherJournal
      case .context: try find(StoredContext.self).condition == .otherJournal
      default: false
      }
    } catch {
      throw .secrets(error)
    }
  }

  /// Returns whether a newer version wrote the item.
  ///
  /// Nothing is moved aside.
  private func isNewer(_ item: SecretItem) throws(SessionError) -> Bool {
    do throws(SecretStoreError) {
      return try store.read(item).map(isOfNewerVersion) ?? false
    } catch {
      throw .secrets(error)
    }
  }

  /// Undoes the storing of a sign-in's token that failed, if it is still the stored one.
  ///
  /// A record may name the token: then a token without secrets takes its place, and says so to every reader.
  /// With `unread`, no record names it, and it is known to be the stored one: it is removed. What cannot be
  /// replaced is removed, and what cannot be removed is replaced.
  func undo(_ token: StoredToken, unread: Bool) throws(SessionError) {
    do throws(SecretStoreError) {
      if !unread {
        guard let stored = try self.token(), stored.generation == token.generation,
          stored.access == token.access
        else { return }
      }
    } catch {
      throw .secrets(error)
    }
    // Each removal is tried: without a free descriptor one item can be refused, and the other not.
    let refused = token.fields.refreshPlace == nil ? nil : refusal(toRemove: .refreshToken)
    if !unread || refusal(toRemove: .token) != nil {
      do throws(SessionError) { try write(token.unannounced) } catch {
        guard !unread else { throw error }
        if let refused = refusal(toRemove: .token) { throw .secrets(refused) }
      }
    }
    // The caller tries again. Until then nothing uses the item without its token.
    if let refused { throw .secrets(refused) }
  }

  private func refusal(toRemove item: SecretItem) -> SecretStoreError? {
    do throws(SecretStoreError) {
      try store.remove(item)
      return nil
    } catch {
      return error
    }
  }

  /// Adds the entry of a revocation to the others.
  ///
  /// Call it under the journal's lock.
  func keep(_ entry: StoredRevocations.Entry) throws(SessionError) {
    let kept = try keptRevocations()
    // An interrupted wipe stored the entry with the refresh token, which it has removed since.
    if entry.refresh == nil, kept.contains(where: entry.replaces) { return }
    // The page of an earlier session has become pointless: the user has logged in since.
    let others = kept.filter { other in
      !entry.replaces(other) && (other.isPage != true || other.token == entry.token)
    }
    try replaceRevocations(others + [entry])
  }

  /// Replaces the entry of one revocation, at the same position.
  ///
  /// Call it under the journal's lock.
  func update(_ entry: StoredRevocations.Entry) throws(SessionError) {
    var entries = try keptRevocations()
    if let index = entries.firstIndex(where: entry.replaces) {
      entries[index] = entry
    } else {
      entries.append(entry)
    }
    try replaceRevocations(entries)
  }

  /// Removes the entry of one revocation and keeps the others.
  ///
  /// Call it under the journal's lock.
  func forgetRevocation(of generation: Generation) throws(SessionError) {
    let all = try keptRevocations()
    let others = all.filter { $0.token != generation || $0.isPage == true }
    if others.count < all.count { try replaceRevocations(others) }
  }

  func keptRevocations() throws(SessionError) -> [StoredRevocations.Entry] {
    do throws(SecretStoreError) { return try allRevocations() } catch { throw .secrets(error) }
  }

  func replaceRevocations(_ entries: [StoredRevocations.Entry]) throws(SessionError) {
    if let item = StoredRevocations(journal: owner, entries: entries, path: path) {
      return try write(item)
    }
    do throws(SecretStoreError) { try store.remove(.revocation) } catch { throw .secrets(error) }
  }
}

extension SessionEffect.Wipe {
  /// The items to remove.
  ///
  /// The token is first, so that a partial wipe leaves nothing that can be used.
  fileprivate var items: [SecretItem] {
    switch extent {
    case .token: [.token]
    case .session, .everything: [.token, .context, .user]
    case .nothing: []
    }
  }
}
