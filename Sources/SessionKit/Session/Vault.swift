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
      contents.token = try item(.token, { $0.token = $1 }, in: &contents) {
        bytes throws(StoredItemError) in
        try StoredToken(decoding: bytes)
      }
      contents.profile = try item(.user, { $0.user = $1 }, in: &contents) {
        bytes throws(StoredItemError) in
        try StoredUser(decoding: bytes)
      }?.profile
      _ = try item(.context, { $0.context = $1 }, in: &contents) { bytes throws(StoredItemError) in
        try StoredContext(decoding: bytes)
      }
      contents.facts.revocation = try revocation()?.generation
    } catch {
      contents.facts.isLocked = true
      return contents
    }
    if let token = contents.token {
      contents.facts.generation = token.generation
      contents.facts.announcement = token.event
    }
    return contents
  }

  private func item<Item: JournalOwned>(
    _ item: SecretItem, _ set: (inout StoredFacts, StoredFacts.Item) -> Void,
    in contents: inout Contents, decode: ([UInt8]) throws(StoredItemError) -> Item
  ) throws(SecretStoreError) -> Item? {
    guard let bytes = try store.read(item) else { return nil }
    let decoded: Item
    do {
      decoded = try decode(bytes)
    } catch {
      try store.setAside(item)
      set(&contents.facts, .unreadable)
      return nil
    }
    guard decoded.journal == journal.description else {
      set(&contents.facts, .otherJournal)
      return nil
    }
    set(&contents.facts, .present)
    return decoded
  }

  /// Makes an answer durable under the batch that announces it; the token item last (REF-7).
  func store(_ answer: TokenAnswer, announcedBy commit: SessionCommit, replacing old: StoredToken?)
    throws(SecretStoreError) -> StoredToken?
  {
    guard let event = commit.announcement, let facts = event.announcedToken else { return nil }
    if let context = commit.context {
      let item = StoredContext(
        journal: journal.description, generation: facts.generation, context: context)
      try store.write(.context, item.encoded())
    }
    if let profile = answer.user {
      let item = StoredUser(journal: journal.description, profile: profile)
      try store.write(.user, item.encoded())
    }
    let (kind, payload) = SessionCodec.encode(.event(event), at: commit.time)
    let token = StoredToken(
      journal: journal.description, generation: facts.generation, access: answer.access,
      refresh: answer.refresh ?? old?.refresh, issuedAt: facts.issuedAt,
      expiresAt: facts.expiresAt,
      announcement: StoredToken.Announcement(kind: kind, payload: payload))
    try store.write(.token, token.encoded())
    return token
  }

  /// The stored token, where it is this journal's and readable.
  func token() throws(SecretStoreError) -> StoredToken? {
    guard let bytes = try store.read(.token) else { return nil }
    do {
      let token = try StoredToken(decoding: bytes)
      return token.journal == journal.description ? token : nil
    } catch {
      return nil
    }
  }

  func revocation() throws(SecretStoreError) -> StoredRevocation? {
    guard let bytes = try store.read(.revocation) else { return nil }
    do {
      let revocation = try StoredRevocation(decoding: bytes)
      return revocation.journal == journal.description ? revocation : nil
    } catch {
      try store.setAside(.revocation)
      return nil
    }
  }

  /// Removes what the wipe names; the token item first, so that nothing half wiped can be used.
  func wipe(_ wipe: SessionEffect.Wipe, current: StoredToken?) throws(SecretStoreError) {
    switch wipe {
    case .token:
      try store.remove(.token)
    case .session:
      try removeSession()
    case .sessionKeepingRevocation(let generation):
      if let token = current, token.generation == generation {
        let item = StoredRevocation(
          journal: journal.description, generation: generation, access: token.access,
          refresh: token.refresh)
        // Without it the server cannot be told; the secrets must go all the same.
        var failure: SecretStoreError?
        do { try store.write(.revocation, item.encoded()) } catch { failure = error }
        try removeSession()
        if let failure { throw failure }
      } else {
        try removeSession()
      }
    }
  }

  private func removeSession() throws(SecretStoreError) {
    try store.remove(.token)
    try store.remove(.context)
    try store.remove(.user)
  }

  func forgetRevocation() throws(SecretStoreError) {
    try store.remove(.revocation)
  }
}

/// A stored item that says whose it is (RES-5).
protocol JournalOwned {
  var journal: String { get }
}

extension StoredToken: JournalOwned {
  /// The event that makes the token known, where it can be read.
  var event: SessionEvent? {
    do {
      return try SessionCodec.decode(
        sequence: 0, kind: announcement.kind, payload: announcement.payload
      ).event
    } catch {
      return nil
    }
  }
}

extension StoredUser: JournalOwned {}
extension StoredContext: JournalOwned {}
