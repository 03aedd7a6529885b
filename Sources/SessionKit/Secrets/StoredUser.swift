import SessionCore

/// The user item, which contains the profile.
struct StoredUser: LocatedItem {
  struct Fields: ContinuingFields {
    var continues: [String]?
    /// Since when the item's journal is missed.
    ///
    /// - Requirement: RES-7
    var missed: LastActivity?
    var id = ""
    var email: String?
    var firstName: String?
    var lastName: String?
    /// Further members of the profile.
    ///
    /// Older versions did not store them.
    var further: [String: String]?
    /// The last use of the session.
    ///
    /// Versions that do not know it ignore it.
    var used: LastActivity?
    /// The source that named the user, and the value that it gave.
    ///
    /// Older versions did not store them.
    ///
    /// - Requirement: LOG-12
    var source: String?
    var named: String?
    /// The `sub` of the last identity token that named the user.
    ///
    /// Older versions did not store it.
    ///
    /// - Requirement: REF-17
    var subject: String?
    /// The path of the journal to which the item belongs.
    ///
    /// Earlier versions did not store it.
    var journalPath: String?

    mutating func visit(_ pass: inout some ItemPass) {
      pass.field("continues", &continues)
      pass.field("email", &email)
      pass.field("firstName", &firstName)
      pass.field("further", &further)
      pass.field("id", &id)
      pass.field("journalPath", &journalPath)
      pass.field("lastName", &lastName)
      pass.field("missed", &missed)
      pass.field("named", &named)
      pass.field("source", &source)
      pass.field("subject", &subject)
      pass.field("used", &used)
    }
  }

  static var item: SecretItem { .user }
  let journal: String
  let fields: Fields
  var journalPath: String? { fields.journalPath }

  init(journal: String, fields: Fields) {
    (self.journal, self.fields) = (journal, fields)
  }

  init(
    journal: String, profile: UserProfile, origin: UserOrigin? = nil, subject: String? = nil,
    path: String? = nil
  ) {
    self.init(
      journal: journal,
      fields: Fields(
        id: profile.id.description, email: profile.email, firstName: profile.firstName,
        lastName: profile.lastName, further: profile.further.isEmpty ? nil : profile.further,
        source: origin?.source, named: origin?.value, subject: subject, journalPath: path))
  }

  /// The source that named the user; `nil` if that is not known.
  var origin: UserOrigin? {
    // Only this source is compared, since the places of a response that name a user need not agree.
    // A server sent an identity token with a refresh and none with a login, and a session named by
    // the user name was ended as another user's. The value is a secret, which other processes read
    // with the token.
    guard let source = fields.source, let named = fields.named else { return nil }
    return UserOrigin(source: source, value: named)
  }

  var profile: UserProfile {
    UserProfile(
      id: Identifier(fields.id), email: fields.email, firstName: fields.firstName,
      lastName: fields.lastName, further: fields.further ?? [:])
  }
}

/// The context item, a cache of the active context.
///
/// The journal decides the context.
struct StoredContext: StoredItem {
  struct Fields: ContinuingFields {
    struct Named: ItemFields {
      var id = ""
      var name = ""

      mutating func visit(_ pass: inout some ItemPass) {
        pass.field("id", &id)
        pass.field("name", &name)
      }
    }

    var continues: [String]?
    var generation: UInt64 = 0
    var role = Named()
    var school: Named?
    var unit: Named?
    var permissions: [String] = []

    mutating func visit(_ pass: inout some ItemPass) {
      pass.field("continues", &continues)
      pass.field("generation", &generation)
      pass.field("permissions", &permissions)
      pass.field("role", &role)
      pass.field("school", &school)
      pass.field("unit", &unit)
    }
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
