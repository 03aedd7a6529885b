@_spi(Internals) import SessionCore

/// The meaning of a server's code in the rejection of a refresh token: the table of `Specs/Why.md`.
enum RefusalWord: Hashable, Sendable {
  /// The token was used before.
  case reused
  case revoked
  case expired
  /// The server does not know the token.
  case unknown
  /// The code does not distinguish causes, or there is none.
  case unsaid
  /// There was a code, and the journal does not contain it.
  case notKept
  /// The code has no known meaning.
  case strange(String)

  /// The name of each meaning in `Specs/Why.md`, and its codes.
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

  /// Determines the meaning of a code; `configured` is the meaning in the app's configuration.
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
  /// The meaning of the server's code; `nil` if the record has no failure.
  var refusalWord: RefusalWord? {
    failure.map { RefusalWord($0.serverCode, meaning: refreshFailed?.configuredMeaning) }
  }
}
