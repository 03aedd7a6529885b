import SessionCore

/// What revoking tokens still needs after their logouts (OUT-1).
///
/// Versions before kept one only: its fields are those of the newest, and `earlier` has the others.
struct StoredRevocations: StoredItem {
  struct Fields: Codable {
    var generation: UInt64
    var access: String
    var refresh: String?
    /// Whose it was, where a provider owns the tokens; no version before has it.
    var user: String?
    /// Oldest first; `nil` where there are none.
    var earlier: [Entry]?
  }

  /// What one revocation needs.
  struct Entry: Codable {
    var generation: UInt64
    var access: String
    var refresh: String?
    var user: String?

    init(_ token: StoredToken, of user: Identifier? = nil) {
      self.user = user?.description
      generation = token.fields.generation
      access = token.fields.access
      refresh = token.fields.refresh
    }

    fileprivate init(_ newest: Fields) {
      (generation, access, refresh) = (newest.generation, newest.access, newest.refresh)
      user = newest.user
    }

    var token: Generation { Generation(generation) }
    var secrets: (access: Secret, refresh: Secret?) {
      (Secret(access), refresh.map(Secret.init))
    }
  }

  static var item: SecretItem { .revocation }
  let journal: String
  let fields: Fields

  init(journal: String, fields: Fields) {
    (self.journal, self.fields) = (journal, fields)
  }

  /// The last so many of these, oldest first; `nil` where there are none.
  init?(journal: String, entries: [Entry]) {
    let kept = entries.suffix(SessionCoordinator.maximumRevocations)
    guard let newest = kept.last else { return nil }
    let earlier = Array(kept.dropLast())
    self.init(
      journal: journal,
      fields: Fields(
        generation: newest.generation, access: newest.access, refresh: newest.refresh,
        user: newest.user, earlier: earlier.isEmpty ? nil : earlier))
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
