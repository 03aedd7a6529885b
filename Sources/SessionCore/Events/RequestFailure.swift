/// How a request for a token failed, as far as decisions and the journal care.
///
/// - Requirement: REF-6
public struct RequestFailure: Hashable, Sendable {
  /// The class of a failure.
  public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The byte in the journal.
    public let rawValue: UInt8

    /// The code with this byte, known or not.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The word, or `unknown(n)`.
    public var description: String { word }

    /// The request never left: no network, name not found, connection refused.
    public static let noConnection = Kind(rawValue: 0)
    /// The request was sent and no whole answer came: the server may have acted.
    public static let noReply = Kind(rawValue: 1)
    /// 5xx, or a `DB_*` code.
    public static let server = Kind(rawValue: 2)
    /// 429.
    public static let rateLimited = Kind(rawValue: 3)
    /// The status says success and the body cannot be read as an answer.
    public static let unreadable = Kind(rawValue: 4)
    /// 401, 403, OAuth's `invalid_grant`, or a `TOKEN_*` code: the grant is dead.
    public static let rejected = Kind(rawValue: 5)
    /// There is nothing to refresh with.
    public static let noRefreshToken = Kind(rawValue: 6)
    /// Another status that has no meaning here (400, 404, 409 …).
    public static let unexpected = Kind(rawValue: 7)
    /// The account is inactive.
    public static let userInactive = Kind(rawValue: 8)
    /// The account is deleted.
    public static let userDeleted = Kind(rawValue: 9)
    /// What the request needs is stored and cannot be read yet; nothing was sent.
    ///
    /// - Requirement: RES-3
    public static let secretsUnavailable = Kind(rawValue: 10)
    /// A page (HTML or XML) came where the backend answers otherwise: a captive portal, a proxy or
    /// a gateway spoke, so that the server is not known to have answered.
    public static let intercepted = Kind(rawValue: 11)

    /// The answer to a refresh or a switch names another user than the session's: what it brought is
    /// nobody's here, and the grant is spent.
    public static let otherUser = Kind(rawValue: 12)

    /// Whether no later attempt with the same refresh token can succeed.
    public var isFinal: Bool {
      self == .rejected || self == .noRefreshToken || self == .userInactive
        || self == .userDeleted || self == .otherUser
    }

    /// Whether the next attempt waits: a server answered, or there is nothing to try with.
    ///
    /// - Requirement: REF-14
    var putsAttemptsOff: Bool { isAnswered || self == .noRefreshToken }

    /// Whether a server answered, so that the failure counts towards the attempts.
    ///
    /// - Requirement: REF-6
    public var isAnswered: Bool {
      self != .noConnection && self != .noReply && self != .noRefreshToken
        && self != .secretsUnavailable && self != .intercepted
    }
  }

  /// The class.
  public let kind: Kind
  /// The HTTP status, 0 where none came.
  public let status: UInt16
  /// The server's own code: `TOKEN_EXPIRED`, `refresh_token_already_used`, or one of the
  /// ``standardCodes`` such as `invalid_grant`.
  ///
  /// The library's own are ``codeNotKept``, of a response whose code is not kept; ``notOffered``,
  /// ``wrongAddress`` and ``notTrusted``, of a request that was not made; and those of
  /// ``NamingSource``.
  ///
  /// A record of an older journal may hold another: up to 64 of `A–Z a–z 0–9 _ - .`.
  public let serverCode: String?
  /// How long the server asked to wait (`Retry-After`), in whole milliseconds; `nil` if it did not ask.
  public var retryAfter: Duration? { retryAfterMilliseconds.map { .milliseconds($0) } }
  /// The same in milliseconds, as a journal holds it.
  package let retryAfterMilliseconds: Int64?

  /// A failure.
  ///
  /// A `serverCode` is kept if ``keeps(_:)`` says so. Any other becomes ``codeNotKept``, since a server may
  /// repeat a token or a password in the place of a code. An empty one is none.
  /// `retryAfter` counts in whole milliseconds, rounded up; a negative one is 0.
  ///
  /// - Requirement: STO-3
  public init(
    kind: Kind, status: UInt16 = 0, serverCode: String? = nil, retryAfter: Duration? = nil
  ) {
    self.init(
      kind: kind, status: status,
      recordedCode: serverCode.flatMap { RequestFailure.kept($0, isNamed: false) },
      retryAfter: retryAfter.map { $0.milliseconds(atLeast: 0) })
  }

  /// A failure as a journal holds it: versions before this one kept codes of more forms, and what
  /// they wrote must read back as it is.
  package init(kind: Kind, status: UInt16, recordedCode: String?, retryAfter: Int64?) {
    self.kind = kind
    self.status = status
    serverCode = recordedCode.flatMap { RequestFailure.isRecordedCode($0) ? $0 : nil }
    retryAfterMilliseconds = retryAfter.map { max(0, $0) }
  }

  /// Whether a server's code is kept as it is, whatever the configuration.
  ///
  /// It is in these cases:
  ///
  /// - a capital followed by at most 47 of `A–Z 0–9 _`, with at most four digits in all,
  /// - one of the ``standardCodes``,
  /// - a code with a known meaning (``ErrorMeaning/init(code:)``), in any spelling,
  /// - a number of Microsoft's (``IdentityCode``).
  ///
  /// - Requirement: POL-8, STO-3
  public static func keeps(_ code: String) -> Bool {
    isCode(code) || ErrorMeaning(code: code) != nil || IdentityCode.isNumber(code)
  }

  /// What is kept of a code; a code that the configuration names is kept if a journal can hold it.
  package static func kept(_ code: String, isNamed: Bool) -> String? {
    guard !code.isEmpty else { return nil }
    return keeps(code) || isNamed && isRecordedCode(code) ? code : codeNotKept
  }

  private static func isCode(_ text: String) -> Bool {
    guard !standardCodes.contains(text) else { return true }
    let bytes = text.utf8
    let isSpelledSo = bytes.allSatisfy { isCapital($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
    return bytes.first.map(isCapital) == true && bytes.count <= 48 && isSpelledSo
      && bytes.count(where: isDigit) <= 4
  }

  private static func isRecordedCode(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"),
          UInt8(ascii: "."):
          true
        default: isCapital(byte) || isDigit(byte)
        }
      }
  }

  private static func isCapital(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

/// The source of a response that said that it belongs to another user.
///
/// The raw value is the code of the failure (`otherUser`) in the journal. It proves that the source
/// which named the session's user named another one. Failures of older versions have no code: those
/// compared what different sources said.
///
/// - Requirement: LOG-12
package enum NamingSource: String, CaseIterable, Hashable, Sendable {
  /// A member of the response, as it is or as a keyed digest.
  case member = "NAMED_BY_MEMBER"
  /// A claim of the access token.
  case accessToken = "NAMED_BY_ACCESS_TOKEN"
  /// A claim of the identity token.
  case identityToken = "NAMED_BY_IDENTITY_TOKEN"
  /// The app's own reader of responses.
  case reader = "NAMED_BY_READER"
  /// The identity SDK.
  case provider = "NAMED_BY_PROVIDER"
}

extension RequestFailure {
  /// The code of a response that has a code, and the code is not kept: neither is it known, nor does the
  /// configuration name it.
  ///
  /// - Requirement: POL-8
  public static let codeNotKept = "CODE_NOT_KEPT"
  /// The code of a request that was not made (`noConnection`), for the server's certificate is not trusted.
  public static let notTrusted = "NOT_TRUSTED"
  /// The code of a request that was not made (`noConnection`), for the wire has none of its kind.
  public static let notOffered = "NOT_OFFERED"
  /// The code of a request that was not made (`noConnection`), for its address cannot be used.
  public static let wrongAddress = "WRONG_ADDRESS"

  /// The codes in small letters that are kept: those of OAuth 2.0 and OpenID Connect.
  ///
  /// Of RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, RFC 7009 §2.2.1, RFC 8628 §3.5, RFC 8707 §2,
  /// RFC 9449 §5 and §8, RFC 9470 §3 and OpenID Connect Core §3.1.2.6.
  public static let standardCodes: Set<String> = [
    "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client",
    "unsupported_grant_type", "unsupported_response_type", "invalid_scope", "access_denied",
    "server_error", "temporarily_unavailable",
    "invalid_token", "insufficient_scope",
    "unsupported_token_type",
    "authorization_pending", "slow_down", "expired_token",
    "invalid_target", "invalid_dpop_proof", "use_dpop_nonce",
    "insufficient_user_authentication",
    "interaction_required", "login_required", "account_selection_required", "consent_required",
    "invalid_request_uri", "invalid_request_object", "request_not_supported",
    "request_uri_not_supported", "registration_not_supported",
  ]
}

extension RequestFailure: CustomStringConvertible {
  /// `rejected 401 TOKEN_EXPIRED`, with the parts that there are.
  public var description: String {
    var text = kind.description
    if status != 0 { text += " \(status)" }
    if let serverCode { text += " \(serverCode)" }
    return text
  }
}

@_spi(Internals) extension RequestFailure.Kind: OpenEnum {
  /// The word for each byte, from 0.
  public static let words = [
    "noConnection", "noReply", "server", "rateLimited", "unreadable", "rejected",
    "noRefreshToken", "unexpected", "userInactive", "userDeleted",
    "secretsUnavailable", "intercepted", "otherUser",
  ]
}
