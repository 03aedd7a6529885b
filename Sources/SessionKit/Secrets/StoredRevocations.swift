@_spi(Internals) import SessionCore

/// What revoking tokens still needs after their logouts.
///
/// The first version kept one only: its fields are those of the newest, and `earlier` has the others.
///
/// - Requirement: OUT-1
struct StoredRevocations: LocatedItem {
  struct Fields {
    var newest: Entry
    /// Oldest first; `nil` if there are none.
    var earlier: [Entry]?
    /// Where the journal stands that it belongs to; earlier versions did not store it.
    var journalPath: String?
  }

  /// What one revocation needs.
  ///
  /// Members that the first version did not have are optional.
  struct Entry: Codable {
    var generation: UInt64
    var access: String
    var refresh: String?
    /// Whose it was.
    var user: String?
    /// Whether a provider is to forget the user's account.
    var owned: Bool?
    /// When the access token expires, by the civil time and by the clock of that start of the system.
    var expiresAt: Int64?
    var boot: String?
    var deadline: Int64?
    /// Whether the session had a refresh token that could not be read at the logout.
    var isRefreshLost: Bool?
    /// Until when a process asks for a new access token, in civil milliseconds: others wait.
    var refreshingUntil: Int64?
    /// Whether such a request got no answer: the server may have replaced the refresh token.
    var isInDoubt: Bool?
    /// The requests that the server has confirmed, if there are several.
    ///
    /// - Requirement: OUT-5
    var done: [String]?

    /// - Parameter isAccount: whether a provider is to forget the user's account, whoever gave the token.
    init(_ token: StoredToken, of user: Identifier?, isAccount: Bool) {
      self.user = isAccount || token.isOwned ? user?.description : nil
      owned = token.isOwned ? true : nil
      generation = token.fields.generation
      access = token.fields.access
      refresh = token.fields.refresh
      expiresAt = token.fields.expiresAt
      (boot, deadline) = (token.fields.boot, token.fields.deadline)
      isRefreshLost = refresh == nil && token.fields.refreshPlace != nil ? true : nil
    }

    /// An account of a user whose token is gone: with no secret, for a provider only.
    init(account user: Identifier, of generation: Generation) {
      (self.generation, access, refresh) = (generation.number, "", nil)
      (self.user, owned) = (user.description, true)
    }

    /// Tokens of a response that is given back.
    init(_ access: Secret, _ refresh: Secret?) {
      (generation, self.access, self.refresh) = (0, access.plaintext, refresh?.plaintext)
    }

    /// Whether a provider is to forget the account; nothing else ends it.
    var isOwned: Bool { owned == true }
    var account: Identifier? { user.map { Identifier($0) } }
    var token: Generation { Generation(generation) }
    var secrets: (access: Secret, refresh: Secret?) {
      (Secret(access), refresh.map(Secret.init))
    }

    /// Whether the access token has expired: by the clock that never jumps if it is the same one, else
    /// by the civil time, else by the token's own `exp`.
    func hasExpired(at now: ClockReading, boot: Identifier?) -> Bool {
      if let deadline, boot != nil, self.boot == boot?.description { return now.uptime >= deadline }
      if let expiresAt { return now.time.milliseconds >= expiresAt }
      // If it says nothing of itself, the server will say.
      return TokenPayload.hints(Secret(access))?.time("exp").map { $0 <= now.time } ?? false
    }

    /// Takes the tokens of a response in place of those before.
    mutating func take(_ answer: TokenResponse, at now: ClockReading, boot: Identifier?) {
      access = answer.access.plaintext
      refresh = answer.refresh?.plaintext ?? refresh
      expiresAt = now.time.advanced(by: answer.lifetime).milliseconds
      self.boot = boot?.description
      deadline = boot == nil ? nil : now.uptime.addingSaturating(answer.lifetimeMilliseconds)
      (refreshingUntil, isInDoubt) = (nil, nil)
    }
  }

  static var item: SecretItem { .revocation }
  static var isBound: Bool { true }
  let journal: String
  let fields: Fields
  var journalPath: String? { fields.journalPath }

  init(journal: String, fields: Fields) {
    (self.journal, self.fields) = (journal, fields)
  }

  /// The last so many of these, oldest first; `nil` if there are none.
  init?(journal: String, entries: [Entry], path: String? = nil) {
    let kept = entries.suffix(SessionCoordinator.maximumRevocations)
    guard let newest = kept.last else { return nil }
    let earlier = Array(kept.dropLast())
    self.init(
      journal: journal,
      fields: Fields(
        newest: newest, earlier: earlier.isEmpty ? nil : earlier, journalPath: path))
  }

  /// Oldest first.
  var entries: [Entry] { (fields.earlier ?? []) + [fields.newest] }
}

extension StoredRevocations.Fields: Codable {
  private enum Keys: String, CodingKey { case earlier, journalPath }

  init(from decoder: any Decoder) throws {
    newest = try StoredRevocations.Entry(from: decoder)
    let container = try decoder.container(keyedBy: Keys.self)
    earlier = try container.decodeIfPresent([StoredRevocations.Entry].self, forKey: .earlier)
    journalPath = try container.decodeIfPresent(String.self, forKey: .journalPath)
  }

  func encode(to encoder: any Encoder) throws {
    try newest.encode(to: encoder)
    var container = encoder.container(keyedBy: Keys.self)
    try container.encodeIfPresent(earlier, forKey: .earlier)
    try container.encodeIfPresent(journalPath, forKey: .journalPath)
  }
}

extension StoredRevocations: CustomReflectable, CustomStringConvertible {
  var description: String { "stored revocations of \(entries.map(\.token))" }
  var customMirror: Mirror { Mirror(self, children: ["generations": entries.map(\.token)]) }
}

extension StoredRevocations.Entry: CustomReflectable, CustomStringConvertible {
  var description: String { "stored revocation of \(token)" }
  var customMirror: Mirror { Mirror(self, children: ["generation": token]) }
}
