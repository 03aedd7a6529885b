import SessionCore

/// Where the refresh token of a token item lies that is kept apart: in an item of this journal, with a
/// token of this generation or a later one.
struct RefreshPlace: Codable, Hashable, Sendable {
  var journal: String
  var generation: UInt64
}

/// The refresh token item, where a store keeps it apart from the access token.
///
/// It is stored before the token item that belongs to it, under the same generation: who dies between
/// the two leaves a refresh token that is newer than the token item, which is the one that the server
/// takes from then on. One that is older than the token item says is never used.
///
/// - Requirement: STO-2
struct StoredRefreshToken: StoredItem {
  struct Fields: Codable {
    var generation: UInt64
    var refresh: String
  }

  static var item: SecretItem { .refreshToken }
  let journal: String
  let fields: Fields

  init(journal: String, fields: Fields) {
    (self.journal, self.fields) = (journal, fields)
  }

  /// Whether it is the refresh token of this token, or a newer one of the same session.
  func belongs(to token: StoredToken) -> Bool {
    guard let place = token.fields.refreshPlace else { return false }
    guard journal == place.journal else {
      // Taken over from another journal's session, and stored anew since.
      return journal == token.journal
    }
    return fields.generation >= place.generation
  }
}

extension StoredRefreshToken: CustomReflectable, CustomStringConvertible {
  var description: String { "stored refresh token of \(Generation(fields.generation))" }
  var customMirror: Mirror { Mirror(self, children: ["generation": fields.generation]) }
}
