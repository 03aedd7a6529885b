@_spi(Internals) import SessionCore
import SessionJournal

extension StoredCredentials {
  /// What is stored of a session, whichever journal it belongs to.
  struct Stray {
    var token: StoredToken
    var user: StoredUser?
    var context: StoredContext?
  }

  /// The items of another journal's session; `nil` where there is no token among them.
  ///
  /// An item that was rewritten for this journal before a crash counts among them.
  func stray() throws(SecretStoreError) -> Stray? {
    // One of no generation is what an undone sign-in left, and announces nothing.
    guard let token = try item(StoredToken.self), token.journal != journal.description,
      token.generation != .none
    else { return nil }
    let owners = [token.journal, journal.description]
    let user = try item(StoredUser.self)
    let context = try item(StoredContext.self)
    return Stray(
      token: token, user: user.flatMap { owners.contains($0.journal) ? $0 : nil },
      context: context.flatMap { owners.contains($0.journal) ? $0 : nil })
  }

  /// Removes what another journal's logouts need to be told of, and returns it; under the journal's lock.
  func takeStrayRevocations() throws(SecretStoreError) -> [StoredRevocations.Entry] {
    guard let item = try item(StoredRevocations.self), item.journal != journal.description else {
      return []
    }
    try store.remove(.revocation)
    return item.entries
  }

  /// The journal that the user item belongs to, where there is one.
  func userItemJournal() throws(SecretStoreError) -> String? {
    try item(StoredUser.self)?.journal
  }

  private func item<Item: StoredItem>(_: Item.Type) throws(SecretStoreError) -> Item? {
    guard let bytes = try store.read(Item.item) else { return nil }
    try binding?.refuse(Item.self, bytes)
    do throws(StoredItemError) {
      return try Item(decoding: bytes)
    } catch {
      // Looked at before, and kept aside where it can never be read.
      return nil
    }
  }
}

extension OrphanedSession {
  /// What stored items and a journal that was set aside tell of a session.
  ///
  /// The user is the one of the user item, else the one that the token's own event or the readable state
  /// names for this very token: a token that nobody is known to own is nobody's.
  ///
  /// `isRenewed` says that a provider brings newer tokens, without a refresh token.
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
      context: items.context?.context ?? (isKnownToken ? known?.activeContext : nil),
      token: TokenMetadata(
        generation: stored.generation,
        issuedAt: Timestamp(milliseconds: stored.fields.issuedAt),
        expiresAt: stored.expiresAt, id: stored.announcement?.announcedToken?.id,
        isRefreshable: stored.isRefreshable || isRenewed))
  }

  /// What a journal that was set aside tells of a session whose token is not stored any more.
  ///
  /// A session that had expired stays so. One whose user item is still there has lost its token, since
  /// a logout removes both; else it was logged out behind what can be read.
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
  /// What a stored token would have been as an answer.
  init(_ items: StoredCredentials.Stray) {
    self.init(
      access: items.token.access, refresh: items.token.refresh, lifetime: 0,
      user: items.user?.profile)
    refreshPlace = items.token.fields.refreshPlace
    origin = items.user?.origin
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
