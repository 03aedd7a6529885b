import Foundation
@_spi(Internals) import SessionCore

/// The token item: the secrets, which token they are, and the event that announces it.
///
/// The event is stored with the token because the token is durable first: whoever finds a token
/// that the journal does not know appends exactly this event.
///
/// - Requirement: REF-7
struct StoredToken: LocatedItem {
  struct Fields: Codable {
    var generation: UInt64
    var access: String
    var refresh: String?
    var issuedAt: Int64
    var expiresAt: Int64
    var announcementKind: UInt8
    var announcement: Data
    /// Which start of the system it was stored in, and when it dies on the clock of that.
    ///
    /// - Requirement: REF-8
    var boot: String?
    var deadline: Int64?
    /// Where the refresh token lies, where it is kept apart.
    ///
    /// - Requirement: STO-2
    var refreshPlace: RefreshPlace?
    /// Where the journal stands that it belongs to.
    var journalPath: String?
    /// Whether an identity provider brings newer ones; no version before has it.
    var owned: Bool?
    /// When the session ends at the latest, as the responses said, by the clock of `expiresAt`; no
    /// version before has it, and one that does not know it loses it with the next token.
    ///
    /// - Requirement: POL-10
    var sessionEnd: Int64?
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
    isOwned: Bool = false, sessionEnd: Timestamp? = nil
  ) {
    let (kind, payload) = SessionCodec.encode(.event(announcement), at: time)
    self.init(
      journal: journal,
      fields: Fields(
        generation: facts.generation.number, access: access.plaintext, refresh: refresh?.plaintext,
        issuedAt: facts.issuedAt.milliseconds, expiresAt: facts.expiresAt.milliseconds,
        announcementKind: kind, announcement: Data(payload),
        boot: deadline == nil ? nil : boot?.description,
        deadline: boot == nil ? nil : deadline, refreshPlace: refreshPlace,
        journalPath: path, owned: isOwned ? true : nil,
        sessionEnd: sessionEnd?.milliseconds))
  }

  /// One in its place that nothing announces, older than any and without secrets: of use to nobody.
  var unannounced: StoredToken {
    var fields = fields
    (fields.generation, fields.access, fields.refresh) = (Generation.none.number, "", nil)
    (fields.announcement, fields.refreshPlace) = (Data(), nil)
    return StoredToken(journal: journal, fields: fields)
  }

  /// The same under another generation, whose place it has taken.
  func standing(for generation: Generation) -> StoredToken {
    var fields = fields
    fields.generation = generation.number
    return StoredToken(journal: journal, fields: fields)
  }

  var journalPath: String? { fields.journalPath }
  /// Whether a sign-in announced it.
  var announcementIsLogin: Bool { fields.announcementKind == SessionEvent.Kind.login.rawValue }
  var generation: Generation { Generation(fields.generation) }
  var access: Secret { Secret(fields.access) }
  /// The refresh token that is in the item itself.
  var refresh: Secret? { fields.refresh.map(Secret.init) }
  /// Whether there is a refresh token, wherever it lies.
  var isRefreshable: Bool { fields.refresh != nil || fields.refreshPlace != nil }
  /// Whether an identity provider brings newer ones, and nothing that is stored here.
  var isOwned: Bool { fields.owned == true }
  var expiresAt: Timestamp { Timestamp(milliseconds: fields.expiresAt) }

  /// When the session ends at the latest, as the responses said.
  var sessionEnd: Timestamp? { fields.sessionEnd.map(Timestamp.init(milliseconds:)) }

  /// When it dies on the clock of this start of the system; `nil` where it is of another one.
  func deadline(in boot: Identifier?) -> Int64? {
    boot != nil && fields.boot == boot?.description ? fields.deadline : nil
  }

  /// The event that makes the token known; `nil` where its bytes cannot be read.
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
