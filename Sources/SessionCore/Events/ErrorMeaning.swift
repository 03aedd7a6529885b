/// What a server's error code means for a token, a session or the app.
///
/// The codes of ``codes`` are known for every backend. A configuration may give meanings to the
/// codes of its own backend. Such a meaning is journaled with the failure, so that a reader of the
/// journal needs no configuration.
/// - Requirement: POL-8
public struct ErrorMeaning: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The meaning with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The name, or `unknown(n)`.
  public var description: String { word }

  /// The refresh token was used before: the server may have revoked its family (RFC 9700 §4.14.2).
  public static let refreshTokenReused = ErrorMeaning(rawValue: 0)
  /// The token or its session was revoked.
  public static let tokenRevoked = ErrorMeaning(rawValue: 1)
  /// The token or its session has expired at the server.
  public static let tokenExpired = ErrorMeaning(rawValue: 2)
  /// The server does not know the token or its session.
  public static let sessionNotFound = ErrorMeaning(rawValue: 3)
  /// The token is not valid; the code does not say why.
  public static let tokenInvalid = ErrorMeaning(rawValue: 4)
  /// The account is inactive.
  public static let userInactive = ErrorMeaning(rawValue: 5)
  /// The account is deleted.
  public static let userDeleted = ErrorMeaning(rawValue: 6)
  /// The server rejects the app's client, for any user.
  public static let clientRefused = ErrorMeaning(rawValue: 7)
  /// The code says no more than the status does.
  public static let unspecified = ErrorMeaning(rawValue: 8)
  /// The server goes on only with the user: a login, a further factor or a consent is needed.
  public static let userNeeded = ErrorMeaning(rawValue: 9)
}

@_spi(Internals) extension ErrorMeaning: OpenEnum {
  /// The word for each byte, from 0.
  public static let words = [
    "refreshTokenReused", "tokenRevoked", "tokenExpired", "sessionNotFound", "tokenInvalid",
    "userInactive", "userDeleted", "clientRefused", "unspecified", "userNeeded",
  ]
}

extension ErrorMeaning {
  /// The meaning of a code that many backends share; `nil` for any other.
  ///
  /// Only whole codes count, in any case, and with `_`, `-`, `.` or nothing between their words:
  /// `refresh_token_already_used` and `RefreshTokenAlreadyUsed` are one code.
  public init?(code: String) {
    guard let key = ErrorMeaning.key(code), let meaning = ErrorMeaning.meanings[key] else {
      return nil
    }
    self = meaning
  }

  /// The codes with a known meaning, by meaning; they equal the table of `Specs/Why.md`.
  public static let codes: [(meaning: ErrorMeaning, codes: [String])] = [
    // A meaning has effects by rules only (`FailureRule.meanings`), so the status still counts. A
    // meaning that is in this list is not journaled: every reader has the list, and most records
    // keep their bytes. Only one that a configuration gives is a field of `refreshFailed`. A note
    // for it was rejected, since a compaction could separate the note from its failure.
    (
      .refreshTokenReused,
      [
        "TOKEN_REUSED", "TOKEN_REUSE", "TOKEN_REUSE_DETECTED", "TOKEN_ALREADY_USED", "TOKEN_USED",
        "REFRESH_TOKEN_REUSED", "REFRESH_TOKEN_REUSE", "REFRESH_TOKEN_REUSE_DETECTED",
        "REFRESH_TOKEN_ALREADY_USED", "REFRESH_TOKEN_USED",
      ]
    ),
    (
      .tokenRevoked,
      [
        "TOKEN_REVOKED", "REFRESH_TOKEN_REVOKED", "SESSION_REVOKED", "TOKEN_BLACKLISTED",
        "AADB2C90129", "AADSTS50173",
      ]
    ),
    (
      .tokenExpired,
      [
        "TOKEN_EXPIRED", "REFRESH_TOKEN_EXPIRED", "SESSION_EXPIRED", "AADB2C90080",
        "AADSTS70008", "AADSTS700082", "AADSTS700084",
      ]
    ),
    (
      .sessionNotFound,
      [
        "TOKEN_UNKNOWN", "TOKEN_NOT_FOUND", "REFRESH_TOKEN_UNKNOWN", "REFRESH_TOKEN_NOT_FOUND",
        "SESSION_UNKNOWN", "SESSION_NOT_FOUND",
      ]
    ),
    (
      .tokenInvalid,
      [
        "INVALID_GRANT", "INVALID_TOKEN", "INVALID_REFRESH_TOKEN", "TOKEN_INVALID",
        "TOKEN_NOT_VALID", "REFRESH_TOKEN_INVALID", "SESSION_INVALID", "NotAuthorizedException",
      ]
    ),
    (.userInactive, ["USER_INACTIVE"]),
    (.userDeleted, ["USER_DELETED"]),
    (.clientRefused, ["INVALID_CLIENT", "UNAUTHORIZED_CLIENT"]),
    (
      .unspecified,
      [
        "INVALID_REQUEST", "UNAUTHORIZED", "UNAUTHENTICATED", "FORBIDDEN", "ACCESS_DENIED",
        "SERVER_ERROR",
      ]
    ),
    // OpenID Connect Core §3.1.2.6, RFC 9470 §3, the draft of OAuth for first-party applications,
    // Firebase, Supabase; of Entra: a consent is missing, a strong authentication is demanded or too
    // old, a sign-in is too long ago.
    (
      .userNeeded,
      [
        "MFA_REQUIRED", "TWO_FACTOR_REQUIRED", "SECOND_FACTOR_REQUIRED", "OTP_REQUIRED",
        "STEP_UP_REQUIRED", "REAUTH_REQUIRED", "REAUTHENTICATION_REQUIRED",
        "REAUTHENTICATION_NEEDED", "LOGIN_REQUIRED", "INTERACTION_REQUIRED", "CONSENT_REQUIRED",
        "ACCOUNT_SELECTION_REQUIRED", "INSUFFICIENT_USER_AUTHENTICATION",
        "INSUFFICIENT_AUTHORIZATION", "INSUFFICIENT_AAL", "CREDENTIAL_TOO_OLD_LOGIN_AGAIN",
        "AADSTS50072", "AADSTS50074", "AADSTS50076", "AADSTS50078", "AADSTS50079", "AADSTS50158",
        "AADSTS65001", "AADSTS70043", "AADSTS70044",
      ]
    ),
  ]

  private static let meanings: [String: ErrorMeaning] = {
    var meanings: [String: ErrorMeaning] = [:]
    for (meaning, codes) in codes {
      for code in codes { meanings[key(code) ?? code] = meaning }
    }
    return meanings
  }()

  /// Normalizes a code: lower-case letters without separators; `nil` if it has another character.
  private static func key(_ code: String) -> String? {
    guard (1...64).contains(code.utf8.count) else { return nil }
    var key: [UInt8] = []
    for byte in code.utf8 {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): key.append(byte | 0x20)
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        key.append(byte)
      case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): break
      default: return nil
      }
    }
    return String(decoding: key, as: UTF8.self)
  }
}
