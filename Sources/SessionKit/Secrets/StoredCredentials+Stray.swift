@_spi(Internals) import SessionCore
import SessionJournal

extension StoredCredentials {
  /// The stored items of a session, of any journal.
  struct Stray {
    var token: StoredToken
    var user: StoredUser?
    var context: StoredContext?
  }

  /// Returns the items of another journal's session; `nil` if there is no token among them.
  ///
  /// An item that was rewritten for this journal before a crash is included.
  func stray() throws(SecretStoreError) -> Stray? {
    // A token of generation 0 is left by an undone sign-in and announces nothing.
    guard let token = try item(StoredToken.self), !isOwn(token),
      token.generation != .none
    else { return nil }
    let owners = [token.journal, owner]
    let user = try item(StoredUser.self)
    let context = try item(StoredContext.self)
    return Stray(
      token: token, user: user.flatMap { owners.contains($0.journal) ? $0 : nil },
      context: context.flatMap { owners.contains($0.journal) ? $0 : nil })
  }

  /// Removes and returns the entries of another journal's revocations.
  ///
  /// Call it under the journal's lock.
  func takeStrayRevocations() throws(SecretStoreError) -> [StoredRevocations.Entry] {
    guard let item = try item(StoredRevocations.self), item.journal != owner else {
      return []
    }
    try store.remove(.revocation)
    return item.entries.filter { $0.isPage != true }
  }

  /// Returns the token of a journal that continues this one, if its items name this user.
  ///
  /// A refreshed token does not name its user, and another user may have logged in to that journal.
  func tokenOfSuccessor(of user: Identifier?) throws(SecretStoreError) -> StoredToken? {
    guard let token = try item(StoredToken.self), token.journal != owner,
      token.continues.contains(owner), try item(StoredUser.self)?.profile.id == user
    else { return nil }
    return token
  }

  /// Returns the items of a journal that is missed; the token item may be gone.
  private func missedItems() throws(SecretStoreError) -> (token: StoredToken?, user: StoredUser?) {
    let (token, user) = (try item(StoredToken.self), try item(StoredUser.self))
    return (token.flatMap { isOwn($0) ? nil : $0 }, user.flatMap { isOwn($0) ? nil : $0 })
  }

  /// Returns the other journal to which the items belong, and since when it is missed.
  ///
  /// The time is `nil` if it is not stored yet, or if it is before the token was issued. Then it was
  /// read from a clock that was wrong.
  func missedJournal() throws(SecretStoreError) -> (journal: String, since: LastActivity?)? {
    let (token, user) = try missedItems()
    guard let journal = token?.journal ?? user?.journal else { return nil }
    let since = user?.fields.missed ?? token?.fields.missed
    let issued = token?.fields.issuedAt ?? .min
    return (journal, since.flatMap { $0.time < issued ? nil : $0 })
  }

  /// Stores since when the journal of the items is missed, unless that is stored.
  ///
  /// The user item has it, which contains no token. Only without that item the token item has it.
  /// Call it under the journal's lock.
  func noteMissed(since now: LastActivity) throws(SessionError) {
    do throws(SecretStoreError) {
      guard let missed = try missedJournal(), missed.since == nil else { return }
      let (token, user) = try missedItems()
      if let user {
        var fields = user.fields
        fields.missed = now
        try replace(StoredUser(journal: user.journal, fields: fields))
      } else if let token {
        var fields = token.fields
        fields.missed = now
        try replace(StoredToken(journal: token.journal, fields: fields))
      }
    } catch {
      throw .secrets(error)
    }
  }

  /// Removes since when this journal was missed, from both items: an older version, or an item that
  /// was missing then, may have left it in either.
  ///
  /// Call it under the journal's lock.
  func noteFound() throws(SessionError) {
    let items: (token: StoredToken?, user: StoredUser?)
    do throws(SecretStoreError) { items = (try token(), try user()) } catch {
      throw .secrets(error)
    }
    if let user = items.user, user.fields.missed != nil { try write(user.found) }
    if let token = items.token, token.fields.missed != nil { try write(token.found) }
  }

  /// Writes an item of another journal, which stays bound to its backend.
  private func replace<Item: StoredItem>(_ item: Item) throws(SecretStoreError) {
    let backend = try store.read(Item.item).flatMap(BackendIdentity.init(ofItem:))
    try store.write(Item.item, WholeItem(item, for: backend).encoded)
  }

  /// Returns the journal to which the user item belongs, if there is one.
  func userItemJournal() throws(SecretStoreError) -> String? {
    try item(StoredUser.self)?.journal
  }

  private func item<Item: StoredItem>(_: Item.Type) throws(SecretStoreError) -> Item? {
    guard let bytes = try store.read(Item.item) else { return nil }
    try binding?.refuse(Item.self, bytes)
    // The item was read before. If no version can read it, it was moved aside then.
    return WholeItem<Item>(bytes)?.item
  }
}

extension OrphanedSession {
  /// Creates what stored items and a quarantined journal show of a session.
  ///
  /// The user item names the user. Otherwise the token's own event does, or the readable state, if
  /// it has this token. A token without a known user is not used.
  ///
  /// `isRenewed` says that a provider supplies newer tokens without a refresh token.
  ///
  /// - Requirement: WEB-6
  init?(_ items: StoredCredentials.Stray, after predecessor: QuarantinedJournal?, isRenewed: Bool) {
    let stored = items.token
    let isContinued = predecessor?.link.journal?.description == stored.journal
    if isContinued, let predecessor, stored.generation <= predecessor.ended { return nil }
    let known = isContinued ? predecessor?.state : nil
    let isKnownToken = known?.token?.generation == stored.generation
    let announced: Identifier? =
      if case .login(let login)? = stored.announcement { login.user } else { nil }
    // The context item is older if there was no room for it.
    let switched: ActiveContext? =
      if case .contextSwitched(let event)? = stored.announcement { event.context } else { nil }
    guard
      let user = items.user?.profile.id ?? announced ?? (isKnownToken ? known?.user : nil)
    else { return nil }
    let link =
      isContinued
      ? predecessor?.link
      : SessionNote.Continued(
        journal: Identifier(stored.journal), sequence: 0, cause: .lost)
    guard let link else { return nil }
    self.init(
      link: link, user: user,
      context: switched ?? items.context?.context ?? (isKnownToken ? known?.activeContext : nil),
      token: TokenMetadata(
        generation: stored.generation,
        issuedAt: Timestamp(milliseconds: stored.fields.issuedAt),
        expiresAt: stored.expiresAt, id: stored.announcement?.announcedToken?.id,
        isRefreshable: stored.isRefreshable || isRenewed))
  }

  /// Creates what a quarantined journal shows of a session whose token is not stored any more.
  ///
  /// An expired session stays expired. If the user item still exists, the session has lost its
  /// token, since a logout removes both. Otherwise it was logged out after the readable part of the
  /// journal.
  init?(expiredIn predecessor: QuarantinedJournal, hasUserItem: Bool) {
    guard !predecessor.hasLaterEvents else { return nil }
    switch predecessor.state {
    case .unauthenticated: return nil
    case .expired(let session):
      let token = TokenMetadata(
        generation: max(Generation(1), predecessor.ended), issuedAt: session.since,
        expiresAt: session.since, isRefreshable: false)
      self.init(
        link: predecessor.link, user: session.user, context: session.context, token: token,
        expired: session.reason)
    case .authenticated(let session):
      guard hasUserItem else { return nil }
      self.init(
        link: predecessor.link, user: session.user, context: session.context,
        token: session.token, expired: .secretsMissing)
    }
  }
}

extension TokenResponse {
  /// Creates the response that would have contained a stored token.
  init(_ items: StoredCredentials.Stray) {
    self.init(
      access: items.token.access, refresh: items.token.refresh, lifetime: 0,
      user: items.user?.profile)
    (refreshPlace, boundKey) = (items.token.fields.refreshPlace, items.token.boundKey)
    continues = [items.token.journal] + items.token.continues
    (origin, identitySubject) = (items.user?.origin, items.user?.fields.subject)
  }
}

extension StoredContext {
  fileprivate var context: ActiveContext {
    ActiveContext(
      role: fields.role.named, school: fields.school?.named, unit: fields.unit?.named,
      permissions: fields.permissions)
  }
}

extension StoredContext.Fields.Named {
  fileprivate var named: ActiveContext.Named {
    ActiveContext.Named(id: Identifier(id), name: name)
  }
}
