import SessionCore
import SessionJournal

/// The stored items of one journal's session: what may be in them, and in which order they change.
struct Vault: Sendable {
  let store: any SecretStore
  let journal: JournalIdentifier

  /// What was found, with its secrets.
  struct Contents {
    var facts = StoredFacts()
    var token: StoredToken?
    var profile: UserProfile?
  }

  /// Looks at every item; what cannot be read as what it should be is kept aside.
  ///
  /// A store that refuses to answer is never an empty one (RES-3).
  func look() -> Contents {
    var contents = Contents()
    do {
      let token = try find(StoredToken.self)
      let user = try find(StoredUser.self)
      let revocation = try find(StoredRevocation.self)
      contents.facts.token = token.condition
      contents.facts.user = user.condition
      contents.facts.context = try find(StoredContext.self).condition
      contents.facts.revocation = revocation.item?.generation
      contents.facts.generation = token.item?.generation ?? .none
      contents.facts.announcement = token.item?.announcement
      contents.token = token.item
      contents.profile = user.item?.profile
    } catch {
      contents = Contents()
      contents.facts.isLocked = true
    }
    return contents
  }

  func find<Item: StoredItem>(_: Item.Type) throws(SecretStoreError)
    -> (condition: StoredFacts.Item, item: Item?)
  {
    guard let bytes = try store.read(Item.item) else { return (.absent, nil) }
    do {
      let item = try Item(decoding: bytes)
      return item.journal == journal.description ? (.present, item) : (.otherJournal, nil)
    } catch .newerVersion(let item, let found) {
      throw .newerVersion(item: item, found: found)
    } catch {
      try store.setAside(Item.item)
      return (.unreadable, nil)
    }
  }

  /// The stored token, where it is this journal's and readable.
  func token() throws(SecretStoreError) -> StoredToken? {
    try find(StoredToken.self).item
  }

  /// The stored profile, where it is this journal's and readable.
  func profile() throws(SecretStoreError) -> UserProfile? {
    try find(StoredUser.self).item?.profile
  }

  /// What a revocation still needs, where it is this journal's and readable.
  func revocation() throws(SecretStoreError) -> StoredRevocation? {
    try find(StoredRevocation.self).item
  }

  /// Makes an answer durable under the batch that announces it; the token item last (REF-7).
  func store(
    _ answer: TokenAnswer, announcedBy commit: SessionCommit, replacing old: StoredToken?,
    boot: Identifier?
  ) throws(SessionError) -> StoredToken? {
    guard let event = commit.announcement, let facts = event.announcedToken else { return nil }
    let owner = journal.description
    if let context = commit.context {
      try write(StoredContext(journal: owner, generation: facts.generation, context: context))
    }
    if let profile = answer.user { try write(StoredUser(journal: owner, profile: profile)) }
    let token = StoredToken(
      journal: owner, facts: facts, access: answer.access, refresh: answer.refresh ?? old?.refresh,
      announcement: event, at: commit.time, boot: boot, deadline: commit.deadline)
    try write(token)
    return token
  }

  func write(_ item: some StoredItem) throws(SessionError) {
    let bytes: [UInt8]
    do { bytes = try item.encoded() } catch {
      throw .unreadableAnswer("what it holds cannot be stored")
    }
    do { try store.write(type(of: item).item, bytes) } catch { throw .secrets(error) }
  }

  /// Removes what the wipe names.
  func wipe(_ wipe: SessionEffect.Wipe, current: StoredToken?) throws(SessionError) {
    var failure: SessionError?
    if let generation = wipe.keptRevocation, let current, current.generation == generation {
      // Without it the server cannot be told; the secrets must go all the same.
      do throws(SessionError) {
        try write(StoredRevocation(current))
      } catch {
        failure = error
      }
    }
    for item in wipe.items {
      do throws(SecretStoreError) {
        try store.remove(item)
        if case .everything = wipe { try store.removeSetAside(item) }
      } catch {
        failure = .secrets(error)
      }
    }
    if let failure { throw failure }
  }

  /// Removes what a revocation needed.
  func forgetRevocation() throws(SecretStoreError) {
    try store.remove(.revocation)
  }
}

extension SessionEffect.Wipe {
  /// The token whose revocation is to have what it needs.
  fileprivate var keptRevocation: Generation? {
    switch self {
    case .token, .session: nil
    case .everything(let generation): generation
    case .nothing(let generation): generation
    }
  }

  /// What goes, the token first, so that nothing half wiped can be used.
  fileprivate var items: [SecretItem] {
    switch self {
    case .token: [.token]
    case .session, .everything: [.token, .context, .user]
    case .nothing: []
    }
  }
}
