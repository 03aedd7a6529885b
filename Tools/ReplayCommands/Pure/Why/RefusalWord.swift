/// What a server's own code says of a refresh token it refused: the table of `Specs/Why.md`.
///
/// Only whole words count: a code that has one of them in it may speak of something else.
enum RefusalWord: Hashable, Sendable {
  /// It was used already.
  case reused
  case revoked
  case expired
  /// The server does not know it.
  case unknown
  /// Nothing that tells one cause from another, or no code at all.
  case unsaid
  /// A word that the table does not have.
  case strange(String)

  /// What each word is called on the page, and the codes that say it, in capitals.
  static let codes: [(says: String, word: RefusalWord, codes: [String])] = [
    (
      "used", .reused,
      [
        "TOKEN_REUSED", "TOKEN_REUSE", "TOKEN_REUSE_DETECTED", "TOKEN_ALREADY_USED", "TOKEN_USED",
        "REFRESH_TOKEN_REUSED", "REFRESH_TOKEN_REUSE", "REFRESH_TOKEN_REUSE_DETECTED",
        "REFRESH_TOKEN_ALREADY_USED", "REFRESH_TOKEN_USED",
      ]
    ),
    ("revoked", .revoked, ["TOKEN_REVOKED", "REFRESH_TOKEN_REVOKED", "SESSION_REVOKED"]),
    ("expired", .expired, ["TOKEN_EXPIRED", "REFRESH_TOKEN_EXPIRED", "SESSION_EXPIRED"]),
    (
      "unknown", .unknown,
      [
        "TOKEN_UNKNOWN", "TOKEN_NOT_FOUND", "REFRESH_TOKEN_UNKNOWN", "REFRESH_TOKEN_NOT_FOUND",
        "SESSION_UNKNOWN", "SESSION_NOT_FOUND",
      ]
    ),
    (
      "nothing", .unsaid,
      [
        "INVALID_GRANT", "INVALID_TOKEN", "INVALID_REFRESH_TOKEN", "TOKEN_INVALID",
        "REFRESH_TOKEN_INVALID", "SESSION_INVALID", "INVALID_REQUEST", "UNAUTHORIZED",
        "UNAUTHENTICATED", "FORBIDDEN", "ACCESS_DENIED", "SERVER_ERROR",
      ]
    ),
  ]

  private static let words = Dictionary(
    uniqueKeysWithValues: codes.flatMap { row in row.codes.map { ($0, row.word) } })

  init(_ code: String?) {
    guard let code else {
      self = .unsaid
      return
    }
    self = Self.words[code.uppercased()] ?? .strange(code)
  }
}
