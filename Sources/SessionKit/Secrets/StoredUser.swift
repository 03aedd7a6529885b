import SessionCore

/// The user item: the profile.
struct StoredUser: LocatedItem {
  struct Fields: Codable {
    var id: String
    var email: String?
    var firstName: String?
    var lastName: String?
    /// Further members of the profile; older versions have none.
    var further: [String: String]?
    /// When the session was used last; versions that know nothing of it pass over it.
    var used: LastActivity?
    /// Which source named the user, and what it said; older versions have neither.
    ///
    /// - Requirement: LOG-12
    var source: String?
    var named: String?
    /// Where the journal stands that it belongs to; earlier versions did not store it.
    var journalPath: String?
  }

  static var item: SecretItem { .user }
  let journal: String
  let fields: Fields
  var journalPath: String? { fields.journalPath }

  init(journal: String, fields: Fields) {
    (self.journal, self.fields) = (journal, fields)
  }

  init(
    journal: String, profile: UserProfile, origin: UserOrigin? = nil, path: String? = nil
  ) {
    self.init(
      journal: journal,
      fields: Fields(
        id: profile.id.description, email: profile.email, firstName: profile.firstName,
        lastName: profile.lastName, further: profile.further.isEmpty ? nil : profile.further,
        source: origin?.source, named: origin?.value, journalPath: path))
  }

  /// Which source named the user; `nil` if that is not known.
  var origin: UserOrigin? {
    guard let source = fields.source, let named = fields.named else { return nil }
    return UserOrigin(source: source, value: named)
  }

  var profile: UserProfile {
    UserProfile(
      id: Identifier(fields.id), email: fields.email, firstName: fields.firstName,
      lastName: fields.lastName, further: fields.further ?? [:])
  }
}

/// The context item: a cache of the active context, beside the journal that decides it.
struct StoredContext: StoredItem {
  struct Fields: Codable {
    struct Named: Codable {
      var id: String
      var name: String
    }

    var generation: UInt64
    var role: Named
    var school: Named?
    var unit: Named?
    var permissions: [String]
  }

  static var item: SecretItem { .context }
  let journal: String
  let fields: Fields

  init(journal: String, fields: Fields) {
    (self.journal, self.fields) = (journal, fields)
  }

  init(journal: String, generation: Generation, context: ActiveContext) {
    self.init(
      journal: journal,
      fields: Fields(
        generation: generation.number, role: Fields.Named(context.role),
        school: context.school.map(Fields.Named.init),
        unit: context.unit.map(Fields.Named.init), permissions: context.permissions))
  }
}

extension StoredContext.Fields.Named {
  fileprivate init(_ named: ActiveContext.Named) {
    self.init(id: named.id.description, name: named.name)
  }
}
