@_spi(Internals) import SessionCore

/// The data of revocations that are pending after their logouts.
///
/// The first version stored only one entry. Therefore the newest entry has those fields, and
/// `earlier` has the others.
///
/// - Requirement: OUT-1
struct StoredRevocations: LocatedItem {
  // There was room for one. A second logout without a network, by a user who had logged in
  // meanwhile, took its place, and the first session stayed valid at the server. An item for each
  // revocation was rejected: a keychain cannot list items by prefix as reliably as it reads one,
  // and each change must be whole or not happen at all. An entry is removed by its generation,
  // which never repeats.
  struct Fields {
    var newest = Entry()
    /// The other entries, oldest first; `nil` if there are none.
    var earlier: [Entry]?
    /// The path of the journal to which the item belongs.
    ///
    /// Earlier versions did not store it.
    var journalPath: String?
  }

  /// The data of one revocation.
  ///
  /// Members that the first version did not have are optional.
  struct Entry {
    var generation: UInt64 = 0
    var access = ""
    var refresh: String?
    /// The user of the session.
    var user: String?
    /// Whether a provider must remove the user's account.
    var owned: Bool?
    /// When the access token expires: in civil time, and in uptime of that boot.
    var expiresAt: Int64?
    var boot: String?
    var deadline: Int64?
    /// The key to which the server bound the access token.
    ///
    /// - Requirement: INT-9
    var boundKey: String?
    /// Whether the session had a refresh token that could not be read at the logout.
    var isRefreshLost: Bool?
    /// The time until which a process asks for a new access token, in civil milliseconds.
    ///
    /// Peers wait until then.
    var refreshingUntil: Int64?
    /// Whether such a request got no response.
    ///
    /// The server may have replaced the refresh token then.
    var isInDoubt: Bool?
    /// The requests that the server has confirmed, if there are several.
    ///
    /// - Requirement: OUT-5
    var done: [String]?

    /// When the server first refused the revocation, in civil milliseconds.
    var refusedSince: Int64?

    /// Whether this is the logout at the provider's page, which the user has not passed.
    ///
    /// Versions that do not know it forget the entry: the journal has no such revocation.
    ///
    /// - Requirement: OUT-8
    var isPage: Bool?
    /// The identity token that names the user to that page.
    var identity: String?

    /// Creates an entry without values.
    init() {}

    /// Creates the entry of a token.
    ///
    /// - Parameter isAccount: whether a provider must remove the user's account, for any issuer of the
    ///   token.
    init(_ token: StoredToken, of user: Identifier?, isAccount: Bool) {
      self.user = isAccount || token.isOwned ? user?.description : nil
      owned = token.isOwned ? true : nil
      generation = token.fields.generation
      access = token.fields.access
      refresh = token.fields.refresh
      expiresAt = token.fields.expiresAt
      (boot, deadline, boundKey) = (
        token.fields.boot, token.fields.deadline, token.fields.boundKey
      )
      isRefreshLost = refresh == nil && token.fields.refreshPlace != nil ? true : nil
    }

    /// Creates an entry without secrets for the account of a user whose token is gone.
    ///
    /// Only a provider uses it.
    init(account user: Identifier, of generation: Generation) {
      (self.generation, access, refresh) = (generation.number, "", nil)
      (self.user, owned) = (user.description, true)
    }

    /// Creates an entry for the tokens of a response that no session keeps.
    init(_ access: Secret, _ refresh: Secret?) {
      (generation, self.access, self.refresh) = (0, access.plaintext, refresh?.plaintext)
    }

    /// Creates the entry of a logout at the provider's page.
    init(page generation: Generation, identity: String?) {
      (self.generation, isPage, self.identity) = (generation.number, true, identity)
    }

    /// Whether a provider must remove the account.
    ///
    /// No other request ends this session.
    var isOwned: Bool { owned == true }
    var account: Identifier? { user.map { Identifier($0) } }
    var token: Generation { Generation(generation) }

    /// Whether this entry takes the place of another one.
    func replaces(_ other: Entry) -> Bool {
      token == other.token && (isPage == true) == (other.isPage == true)
    }

    var secrets: (access: Secret, refresh: Secret?) {
      (Secret(access), refresh.map(Secret.init))
    }

    /// Returns whether the access token has expired.
    ///
    /// The monotonic clock decides within one boot, else the civil time, else the token's own
    /// `exp`.
    func hasExpired(at now: ClockReading, boot: Identifier?) -> Bool {
      if let deadline, boot != nil, self.boot == boot?.description { return now.uptime >= deadline }
      if let expiresAt { return now.time.milliseconds >= expiresAt }
      // If the token does not state its expiry, the server decides.
      return TokenPayload.hints(Secret(access))?.time("exp").map { $0 <= now.time } ?? false
    }

    /// Replaces the tokens by those of a response.
    mutating func take(_ answer: TokenResponse, at now: ClockReading, boot: Identifier?) {
      access = answer.access.plaintext
      refresh = answer.refresh?.plaintext ?? refresh
      expiresAt = now.time.advanced(by: answer.lifetime).milliseconds
      (self.boot, boundKey) = (boot?.description, answer.boundKey?.description)
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

  /// Creates an item with the last `maximumRevocations` of these entries, oldest first; `nil` if
  /// there are none.
  init?(journal: String, entries: [Entry], path: String? = nil) {
    let pages = entries.filter { $0.isPage == true }.suffix(1)
    let kept =
      pages
      + entries.filter { $0.isPage != true }.suffix(SessionCoordinator.maximumRevocations)
    guard let newest = kept.last else { return nil }
    let earlier = Array(kept.dropLast())
    self.init(
      journal: journal,
      fields: Fields(
        newest: newest, earlier: earlier.isEmpty ? nil : earlier, journalPath: path))
  }

  /// The entries, oldest first.
  var entries: [Entry] { (fields.earlier ?? []) + [fields.newest] }
}

extension StoredRevocations.Fields: ItemFields {
  mutating func visit(_ pass: inout some ItemPass) {
    newest.visitFirst(&pass)
    pass.field("earlier", &earlier)
    newest.visitSecond(&pass)
    pass.field("journalPath", &journalPath)
    newest.visitLast(&pass)
  }
}

extension StoredRevocations.Entry: ItemFields {
  mutating func visit(_ pass: inout some ItemPass) {
    visitFirst(&pass)
    visitSecond(&pass)
    visitLast(&pass)
  }

  // The parts between which the newest entry has the other fields of the item.

  fileprivate mutating func visitFirst(_ pass: inout some ItemPass) {
    pass.field("access", &access)
    pass.field("boot", &boot)
    pass.field("boundKey", &boundKey)
    pass.field("deadline", &deadline)
    pass.field("done", &done)
  }

  fileprivate mutating func visitSecond(_ pass: inout some ItemPass) {
    pass.field("expiresAt", &expiresAt)
    pass.field("generation", &generation)
    pass.field("identity", &identity)
    pass.field("isInDoubt", &isInDoubt)
    pass.field("isPage", &isPage)
    pass.field("isRefreshLost", &isRefreshLost)
  }

  fileprivate mutating func visitLast(_ pass: inout some ItemPass) {
    pass.field("owned", &owned)
    pass.field("refresh", &refresh)
    pass.field("refreshingUntil", &refreshingUntil)
    pass.field("refusedSince", &refusedSince)
    pass.field("user", &user)
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
