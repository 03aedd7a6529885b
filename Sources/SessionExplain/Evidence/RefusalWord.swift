@_spi(Internals) import SessionCore

/// What a server's own code says of a refresh token it refused: the table of `Specs/Why.md`.
enum RefusalWord: Hashable, Sendable {
  /// It was used already.
  case reused
  case revoked
  case expired
  /// The server does not know it.
  case unknown
  /// Nothing that tells one cause from another, or no code at all.
  case unsaid
  /// There was a code, and the journal does not have it.
  case notKept
  /// A code without a known meaning.
  case strange(String)

  /// What each word is called on the page, and the codes that say it.
  static let codes: [(says: String, word: RefusalWord, codes: [String])] = [
    ("used", .reused, known(.refreshTokenReused)),
    ("revoked", .revoked, known(.tokenRevoked)),
    ("expired", .expired, known(.tokenExpired)),
    ("unknown", .unknown, known(.sessionNotFound)),
    ("nothing", .unsaid, known(.tokenInvalid) + known(.unspecified)),
  ]

  private static func known(_ meaning: ErrorMeaning) -> [String] {
    ErrorMeaning.codes.filter { $0.meaning == meaning }.flatMap(\.codes)
  }

  /// What a code says; `configured` is the meaning that a configuration gave it.
  init(_ code: String?, meaning configured: ErrorMeaning? = nil) {
    let known = code.flatMap { ErrorMeaning(code: $0) }
    switch (configured ?? known, code) {
    case (.refreshTokenReused?, _): self = .reused
    case (.tokenRevoked?, _): self = .revoked
    case (.tokenExpired?, _): self = .expired
    case (.sessionNotFound?, _): self = .unknown
    case (.tokenInvalid?, _), (.unspecified?, _), (_, nil): self = .unsaid
    case (nil, RequestFailure.codeNotKept?): self = .notKept
    case (_, let code?): self = .strange(code)
    }
  }
}

extension Fact {
  /// What the server's code says of the token, if the record names a failure.
  var refusalWord: RefusalWord? {
    failure.map { RefusalWord($0.serverCode, meaning: refreshFailed?.configuredMeaning) }
  }
}
