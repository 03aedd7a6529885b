/// How a request for a token failed.
///
/// - Requirement: REF-6
public struct RequestFailure: Hashable, Sendable {
  /// The class of a failure.
  public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The byte in the journal.
    public let rawValue: UInt8

    /// The code with this byte, known or not.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The name, or `unknown(n)`.
    public var description: String { word }

    /// The request was not sent: no network, name not found, or connection refused.
    public static let noConnection = Kind(rawValue: 0)
    /// The request was sent and no complete response arrived: the server may have acted.
    public static let noReply = Kind(rawValue: 1)
    /// The status is 5xx, or the code begins with `DB_`.
    public static let server = Kind(rawValue: 2)
    /// The status is 429.
    public static let rateLimited = Kind(rawValue: 3)
    /// The status says success, but the body cannot be decoded.
    public static let unreadable = Kind(rawValue: 4)
    /// The grant is invalid: 401, 403, OAuth's `invalid_grant`, or a `TOKEN_*` code.
    public static let rejected = Kind(rawValue: 5)
    /// There is no refresh token.
    public static let noRefreshToken = Kind(rawValue: 6)
    /// The status has no meaning here, such as 400, 404 or 409.
    public static let unexpected = Kind(rawValue: 7)
    /// The account is inactive.
    public static let userInactive = Kind(rawValue: 8)
    /// The account is deleted.
    public static let userDeleted = Kind(rawValue: 9)
    /// The stored secrets cannot be read yet; nothing was sent.
    ///
    /// - Requirement: RES-3
    public static let secretsUnavailable = Kind(rawValue: 10)
    /// The response is a page (HTML or XML), which the backend does not send.
    ///
    /// It comes from a captive portal, a proxy or a gateway. It is unknown whether the server has
    /// responded.
    public static let intercepted = Kind(rawValue: 11)

    /// The response to a refresh or a switch names another user than the session's.
    ///
    /// Its token is not used, and the grant is spent.
    public static let otherUser = Kind(rawValue: 12)
    /// The server goes on only with the user, who must authenticate again or allow something.
    ///
    /// - Requirement: STA-9
    public static let userNeeded = Kind(rawValue: 13)
    /// The key to which the server bound the tokens is gone, or is another one; nothing was sent.
    ///
    /// - Requirement: INT-9
    public static let proofKeyLost = Kind(rawValue: 14)

    /// Whether no later attempt with the same refresh token can succeed.
    public var isFinal: Bool {
      self == .rejected || self == .noRefreshToken || self == .userInactive
        || self == .userDeleted || self == .otherUser
    }

    /// Whether the next attempt waits: a server responded, or there is no refresh token.
    ///
    /// - Requirement: REF-14
    var putsAttemptsOff: Bool { isAnswered || self == .noRefreshToken }

    /// Whether a server responded, so that the failure counts towards the attempts.
    ///
    /// - Requirement: REF-6
    public var isAnswered: Bool {
      self != .noConnection && self != .noReply && self != .noRefreshToken
        && self != .secretsUnavailable && self != .intercepted && self != .proofKeyLost
    }
  }

  /// The class of the failure.
  public let kind: Kind
  /// The HTTP status; 0 without a response.
  public let status: UInt16
  /// The server's error code, such as `TOKEN_EXPIRED`, `refresh_token_already_used` or
  /// `invalid_grant`.
  ///
  /// The library has codes of its own:
  /// - ``codeNotKept``: the response had a code that is not kept.
  /// - ``notOffered``, ``wrongAddress`` and ``notTrusted``: the request was not made.
  /// - `NAMED_BY_MEMBER` and similar ones: the response belongs to another user.
  ///
  /// A record of an older journal may hold any other code: up to 64 characters of `A–Z a–z 0–9 _ -
  /// .`.
  public let serverCode: String?
  /// How long the server asked to wait (`Retry-After`), in whole milliseconds; `nil` if it did not ask.
  public var retryAfter: Duration? { retryAfterMilliseconds.map { .milliseconds($0) } }
  /// The delay of `Retry-After` in milliseconds, as journaled.
  package let retryAfterMilliseconds: Int64?

  /// Creates a failure.
  ///
  /// A `serverCode` is kept if ``keeps(_:)`` is true for it. Any other code becomes
  /// ``codeNotKept``, since a server may repeat a token or a password in its place. An empty code
  /// becomes `nil`. `retryAfter` is rounded up to whole milliseconds; a negative one is 0.
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

  /// Creates a failure as it was journaled.
  ///
  /// Earlier versions kept more forms of codes. Their records must be decoded unchanged.
  package init(kind: Kind, status: UInt16, recordedCode: String?, retryAfter: Int64?) {
    self.kind = kind
    self.status = status
    serverCode = recordedCode.flatMap { RequestFailure.isRecordedCode($0) ? $0 : nil }
    retryAfterMilliseconds = retryAfter.map { max(0, $0) }
  }

  /// Whether a server's code is kept unchanged, with any configuration.
  ///
  /// It is kept in these cases:
  ///
  /// - It is a capital letter and at most 47 characters of `A–Z 0–9 _`, with at most four digits in
  ///   all.
  /// - It is one of the ``standardCodes``.
  /// - It is a code with a known meaning (``ErrorMeaning/init(code:)``), in any spelling.
  /// - It is a number of Microsoft's (``IdentityCode``).
  ///
  /// - Requirement: POL-8, STO-3
  public static func keeps(_ code: String) -> Bool {
    isCode(code) || ErrorMeaning(code: code) != nil || IdentityCode.isNumber(code)
  }

  /// Returns the code to journal; a code that the configuration names is kept if a journal can hold
  /// it.
  package static func kept(_ code: String, isNamed: Bool) -> String? {
    // Servers spell codes in many ways, and one may repeat a token or a password in the place of a
    // code. Once only capitals were kept, and `why` reported that the server gave no reason. No
    // part, length or digest of another code is kept, since it may be a secret. That there was one
    // is recorded.
    guard !code.isEmpty else { return nil }
    return keeps(code) || isNamed && isRecordedCode(code) ? code : codeNotKept
  }

  /// Whether the server's code asks to repeat the request.
  ///
  /// - Requirement: REF-19
  var asksForRepetition: Bool {
    serverCode.map(RequestFailure.repetitionCodes.contains) == true
  }

  /// Whether this failure uses up the attempts of a policy, even as the only failure.
  ///
  /// A server that asks for a repetition has not failed, and a 200 that cannot be read may have been
  /// cut on its way.
  ///
  /// - Requirement: REF-19
  package var exhaustsAlone: Bool {
    kind.isAnswered && kind != .unreadable && !asksForRepetition
  }

  /// Whether the server says the same; how long it asks to wait does not count.
  func isAlike(_ other: RequestFailure) -> Bool {
    (kind, status, serverCode) == (other.kind, other.status, other.serverCode)
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

/// The source that named another user in a response.
///
/// The raw value is the failure's code (`otherUser`) in the journal. It proves that the same source
/// had named the session's user before, except for `changedAccessToken`. Failures of older versions
/// have no code: they compared different sources.
///
/// - Requirement: LOG-12, REF-17
package enum NamingSource: String, CaseIterable, Hashable, Sendable {
  /// A member of the response, unchanged or as a keyed digest.
  case member = "NAMED_BY_MEMBER"
  /// A claim of the access token.
  case accessToken = "NAMED_BY_ACCESS_TOKEN"
  /// A claim of the identity token.
  case identityToken = "NAMED_BY_IDENTITY_TOKEN"
  /// The app's own decoder of responses.
  case reader = "NAMED_BY_READER"
  /// The SDK of the identity provider.
  case provider = "NAMED_BY_PROVIDER"
  /// A claim of the access token differs from that of the token before it.
  ///
  /// It is likely, and no proof: such a claim need not be a user (RFC 9068 §2.2, §6).
  case changedAccessToken = "CHANGED_IN_ACCESS_TOKEN"
}

extension RequestFailure {
  /// The code of a failure whose own code is not kept.
  ///
  /// That code is neither known nor named by the configuration.
  ///
  /// - Requirement: POL-8
  public static let codeNotKept = "CODE_NOT_KEPT"
  /// The code of a request that was not made, because the server's certificate is not trusted.
  public static let notTrusted = "NOT_TRUSTED"
  /// The code of a request that was not made, because the backend does not offer it.
  public static let notOffered = "NOT_OFFERED"
  /// The code of a redirect that leads to the same host: the address was moved, and no network
  /// responded in place of the server.
  package static let movedAddress = "MOVED_ADDRESS"
  /// The code of a request that was not made, because its address cannot be used.
  public static let wrongAddress = "WRONG_ADDRESS"

  /// The codes that ask to repeat a request: now, later, or with a nonce.
  ///
  /// Only this spelling counts: `SERVER_ERROR` of a backend of JSON is no code of a standard.
  package static let repetitionCodes: Set<String> = [
    "server_error", "temporarily_unavailable", "authorization_pending", "slow_down",
    "use_dpop_nonce",
  ]

  /// The codes of a wrong request, which say nothing of the token in it.
  package static let requestCodes: Set<String> = [
    "invalid_request", "invalid_scope", "invalid_target", "invalid_dpop_proof",
    "unsupported_grant_type", "unsupported_response_type", "unsupported_token_type",
  ]

  /// The lower-case codes that are kept: those of OAuth 2.0 and OpenID Connect.
  ///
  /// Sources: RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, RFC 7009 §2.2.1, RFC 8628 §3.5, RFC 8707
  /// §2, RFC 9449 §5 and §8, RFC 9470 §3 and OpenID Connect Core §3.1.2.6.
  public static let standardCodes: Set<String> = Set([
    "invalid_client", "invalid_grant", "unauthorized_client", "access_denied",
    "invalid_token", "insufficient_scope", "expired_token",
    "insufficient_user_authentication", "insufficient_authorization",
    "interaction_required", "login_required", "account_selection_required", "consent_required",
    "invalid_request_uri", "invalid_request_object", "request_not_supported",
    "request_uri_not_supported", "registration_not_supported",
  ]).union(repetitionCodes).union(requestCodes)
}

extension RequestFailure: CustomStringConvertible {
  /// The failure as text, without missing parts: `rejected 401 TOKEN_EXPIRED`.
  public var description: String {
    var text = kind.description
    if status != 0 { text += " \(status)" }
    if let serverCode { text += " \(serverCode)" }
    return text
  }
}

@_spi(Internals) extension RequestFailure.Kind: OpenEnum {
  /// The name of each byte, from 0.
  public static let words = [
    "noConnection", "noReply", "server", "rateLimited", "unreadable", "rejected",
    "noRefreshToken", "unexpected", "userInactive", "userDeleted",
    "secretsUnavailable", "intercepted", "otherUser", "userNeeded", "proofKeyLost",
  ]
}
