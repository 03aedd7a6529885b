import SessionCore

/// What revoking tokens still needs after their logouts (OUT-1).
///
/// Versions before kept one only: its fields are those of the newest, and `earlier` has the others.
struct StoredRevocations: LocatedItem {
  struct Fields: Codable {
    var generation: UInt64
    var access: String
    var refresh: String?
    /// Whose it was; no version before has it.
    var user: String?
    /// Whether a provider is to forget the user's account; no version before has it.
    var owned: Bool?
    /// Oldest first; `nil` where there are none.
    var earlier: [Entry]?
    /// Where the journal stands that it belongs to; earlier versions did not store it.
    var journalPath: String?
  }

  /// What one revocation needs.
  struct Entry: Codable {
    var generation: UInt64
    var access: String
    var refresh: String?
    var user: String?
    var owned: Bool?

    /// - Parameter isAccount: whether a provider is to forget the user's account, whoever gave the token.
    init(_ token: StoredToken, of user: Identifier?, isAccount: Bool) {
      self.user = isAccount || token.isOwned ? user?.description : nil
      owned = token.isOwned ? true : nil
      generation = token.fields.generation
      access = token.fields.access
      refresh = token.fields.refresh
    }

    /// An account of a user whose token is gone: with no secret, for a provider only.
    init(account user: Identifier, of generation: Generation) {
      (self.generation, access, refresh) = (generation.number, "", nil)
      (self.user, owned) = (user.description, true)
    }

    fileprivate init(_ newest: Fields) {
      (generation, access, refresh) = (newest.generation, newest.access, newest.refresh)
      (user, owned) = (newest.user, newest.owned)
    }

    /// Whether a provider is to forget the account; nothing else ends it.
    var isOwned: Bool { owned == true }
    var account: Identifier? { user.map { Identifier($0) } }
    var token: Generation { Generation(generation) }
    var secrets: (access: Secret, refresh: Secret?) {
      (Secret(access), refresh.map(Secret.init))
    }
  }

  static var item: SecretItem { .revocation }
  let journal: String
  let fields: Fields
  var journalPath: String? { fields.journalPath }

  init(journal: String, fields: Fields) {
    (self.journal, self.fields) = (journal, fields)
  }

  /// The last so many of these, oldest first; `nil` where there are none.
  init?(journal: String, entries: [Entry], path: String? = nil) {
    let kept = entries.suffix(SessionCoordinator.maximumRevocations)
    guard let newest = kept.last else { return nil }
    let earlier = Array(kept.dropLast())
    self.init(
      journal: journal,
      fields: Fields(
        generation: newest.generation, access: newest.access, refresh: newest.refresh,
        user: newest.user, owned: newest.owned, earlier: earlier.isEmpty ? nil : earlier,
        journalPath: path))
  }

  /// Oldest first.
  var entries: [Entry] { (fields.earlier ?? []) + [Entry(fields)] }
}

extension StoredRevocations: CustomReflectable, CustomStringConvertible {
  var description: String { "stored revocations of \(entries.map(\.token))" }
  var customMirror: Mirror { Mirror(self, children: ["generations": entries.map(\.token)]) }
}

extension StoredRevocations.Entry: CustomReflectable, CustomStringConvertible {
  var description: String { "stored revocation of \(token)" }
  var customMirror: Mirror { Mirror(self, children: ["generation": token]) }
}
