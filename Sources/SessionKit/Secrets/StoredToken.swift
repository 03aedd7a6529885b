import Foundation
@_spi(Internals) import SessionCore

/// The token item: the secrets, the generation, and the event that announces the token.
///
/// The token becomes durable before its event, so the event is stored with it. If a process finds a
/// token that the journal does not contain, it appends exactly this event.
///
/// - Requirement: REF-7
struct StoredToken: LocatedItem {
  struct Fields: ContinuingFields {
    var continues: [String]?
    /// Since when the item's journal is missed.
    ///
    /// - Requirement: RES-7
    var missed: LastActivity?
    var generation: UInt64 = 0
    var access = ""
    var refresh: String?
    var issuedAt: Int64 = 0
    var expiresAt: Int64 = 0
    var announcementKind: UInt8 = 0
    var announcement = Data()
    /// The thumbprint of the key to which the server bound the token.
    ///
    /// Earlier versions lose it with the next token, which they cannot use.
    ///
    /// - Requirement: INT-9
    var boundKey: String?
    /// The boot in which the token was stored, and its expiry in uptime of that boot.
    ///
    /// - Requirement: REF-8
    var boot: String?
    var deadline: Int64?
    /// The place of the refresh token, if it is stored separately.
    ///
    /// - Requirement: STO-2
    var refreshPlace: RefreshPlace?
    /// The path of the journal to which the item belongs.
    var journalPath: String?
    /// Whether an identity provider supplies newer tokens.
    ///
    /// Earlier versions did not store it.
    var owned: Bool?
    /// When the session ends at the latest, as the responses said, by the clock of `expiresAt`.
    ///
    /// Earlier versions did not store it. They lose it with the next token.
    ///
    /// - Requirement: POL-10
    var sessionEnd: Int64?
    /// The last identity token, which names the user to the provider's page at a logout.
    ///
    /// Earlier versions lose it with the next token. Then the page may ask the user.
    ///
    /// - Requirement: OUT-8
    var identity: String?

    mutating func visit(_ pass: inout some ItemPass) {
      pass.field("access", &access)
      pass.field("announcement", &announcement)
      pass.field("announcementKind", &announcementKind)
      pass.field("boot", &boot)
      pass.field("boundKey", &boundKey)
      pass.field("continues", &continues)
      pass.field("deadline", &deadline)
      pass.field("expiresAt", &expiresAt)
      pass.field("generation", &generation)
      pass.field("identity", &identity)
      pass.field("issuedAt", &issuedAt)
      pass.field("journalPath", &journalPath)
      pass.field("missed", &missed)
      pass.field("owned", &owned)
      pass.field("refresh", &refresh)
      pass.field("refreshPlace", &refreshPlace)
      pass.field("sessionEnd", &sessionEnd)
    }
  }

  static var item: SecretItem { .token }
  static var isBound: Bool { true }
  let journal: String
  let fields: Fields

  init(journal: String, fields: Fields) {
    (self.journal, self.fields) = (journal, fields)
  }

  init(
    journal: String, facts: TokenMetadata, access: Secret, refresh: Secret?,
    refreshPlace: RefreshPlace? = nil, announcement: SessionEvent, at time: Timestamp,
    boot: Identifier? = nil, deadline: Int64? = nil, path: String? = nil,
    isOwned: Bool = false, sessionEnd: Timestamp? = nil, identity: String? = nil,
    boundKey: Identifier? = nil
  ) {
    let (kind, payload) = SessionCodec.encode(.event(announcement), at: time)
    self.init(
      journal: journal,
      fields: Fields(
        generation: facts.generation.number, access: access.plaintext, refresh: refresh?.plaintext,
        issuedAt: facts.issuedAt.milliseconds, expiresAt: facts.expiresAt.milliseconds,
        announcementKind: kind, announcement: Data(payload), boundKey: boundKey?.description,
        boot: deadline == nil ? nil : boot?.description,
        deadline: boot == nil ? nil : deadline, refreshPlace: refreshPlace,
        journalPath: path, owned: isOwned ? true : nil,
        sessionEnd: sessionEnd?.milliseconds, identity: identity))
  }

  /// A replacement without secrets that no event announces, older than any token.
  ///
  /// It cannot be used.
  var unannounced: StoredToken {
    var fields = fields
    (fields.generation, fields.access, fields.refresh) = (Generation.none.number, "", nil)
    (fields.announcement, fields.refreshPlace, fields.identity) = (Data(), nil, nil)
    return StoredToken(journal: journal, fields: fields)
  }

  /// Returns the same token under another generation, which it has replaced.
  func standing(for generation: Generation) -> StoredToken {
    var fields = fields
    fields.generation = generation.number
    return StoredToken(journal: journal, fields: fields)
  }

  var journalPath: String? { fields.journalPath }
  /// The kind of the announcing event, also if the event cannot be read; `nil` for an unknown kind.
  var announcementKind: SessionEvent.Kind? { SessionEvent.Kind(rawValue: fields.announcementKind) }
  var generation: Generation { Generation(fields.generation) }
  var access: Secret { Secret(fields.access) }
  /// The refresh token that is in the item itself.
  var refresh: Secret? { fields.refresh.map(Secret.init) }
  /// Whether there is a refresh token, in this item or a separate one.
  var isRefreshable: Bool { fields.refresh != nil || fields.refreshPlace != nil }
  /// Whether an identity provider supplies newer tokens, instead of a stored refresh token.
  var isOwned: Bool { fields.owned == true }
  var expiresAt: Timestamp { Timestamp(milliseconds: fields.expiresAt) }

  /// The key to which the server bound the token; `nil` for a bearer token.
  var boundKey: Identifier? { fields.boundKey.map { Identifier($0) } }

  /// Returns the access token as the app and the backend see it.
  var accessToken: AccessToken {
    var token = AccessToken(access, generation: generation, expiresAt: expiresAt)
    token.boundKey = boundKey
    return token
  }

  /// When the session ends at the latest, as the responses said.
  var sessionEnd: Timestamp? { fields.sessionEnd.map(Timestamp.init(milliseconds:)) }

  /// Returns the expiry in uptime of this boot; `nil` if the token was stored in another boot.
  func deadline(in boot: Identifier?) -> Int64? {
    boot != nil && fields.boot == boot?.description ? fields.deadline : nil
  }

  /// The event that announces the token; `nil` if its bytes cannot be read.
  var announcement: SessionEvent? {
    do {
      return try SessionCodec.decode(
        sequence: 0, kind: fields.announcementKind, payload: Array(fields.announcement)
      ).event
    } catch {
      return nil
    }
  }
}

extension StoredToken: CustomReflectable, CustomStringConvertible {
  var description: String { "stored \(generation)" }
  var customMirror: Mirror { Mirror(self, children: ["generation": generation]) }
}
