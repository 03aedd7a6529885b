import SessionCore

/// The refresh token item of a store that keeps it separate from the access token.
///
/// It is stored before its token item, with the same generation. If the process dies in between,
/// the refresh token is newer than the token item. That is the one that the server accepts from
/// then on. A refresh token that is older than the token item says is never used.
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

  /// Returns whether it is the refresh token of this token, or a newer one of the same session.
  func belongs(to token: StoredToken) -> Bool {
    guard let place = token.fields.refreshPlace else { return false }
    guard journal == place.journal else {
      // The token was taken over from another journal's session, and the refresh token was stored
      // anew since.
      return journal == token.journal
    }
    return fields.generation >= place.generation
  }
}

extension StoredRefreshToken: CustomReflectable, CustomStringConvertible {
  var description: String { "stored refresh token of \(Generation(fields.generation))" }
  var customMirror: Mirror { Mirror(self, children: ["generation": fields.generation]) }
}
