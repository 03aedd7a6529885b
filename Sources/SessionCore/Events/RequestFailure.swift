/// How a request for a token failed, as far as decisions and the journal care (REF-6).
public struct RequestFailure: Hashable, Sendable {
  /// The class of a failure.
  public struct Kind: Code {
    /// The byte in the journal.
    public let rawValue: UInt8

    /// The code with this byte, known or not.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

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
    /// What the request needs is stored and cannot be read yet (RES-3); nothing was sent.
    public static let secretsUnavailable = Kind(rawValue: 10)

    /// The word for each byte, from 0.
    public static let words = [
      "noConnection", "noReply", "server", "rateLimited", "unreadable", "rejected",
      "noRefreshToken", "unexpected", "userInactive", "userDeleted",
      "secretsUnavailable",
    ]

    /// Whether no later attempt with the same refresh token can succeed.
    public var isFinal: Bool {
      self == .rejected || self == .noRefreshToken || self == .userInactive || self == .userDeleted
    }

    /// Whether a server answered, so that the failure counts towards the attempts (REF-6).
    public var isAnswered: Bool {
      self != .noConnection && self != .noReply && self != .noRefreshToken
        && self != .secretsUnavailable
    }
  }

  /// The class.
  public let kind: Kind
  /// The HTTP status, 0 where none came.
  public let status: UInt16
  /// The server's own code (`TOKEN_EXPIRED`, `invalid_grant`); at most 64 of `A–Z a–z 0–9 _ - .`.
  public let serverCode: String?
  /// Milliseconds that the server asked to wait (`Retry-After`), where it did.
  public let retryAfter: Int64?

  /// A failure.
  ///
  /// A `serverCode` of another form than the property allows is dropped: what a server sends is
  /// not to be trusted in a journal.
  public init(kind: Kind, status: UInt16 = 0, serverCode: String? = nil, retryAfter: Int64? = nil) {
    self.kind = kind
    self.status = status
    self.serverCode = serverCode.flatMap { RequestFailure.isCode($0) ? $0 : nil }
    self.retryAfter = retryAfter.map { max(0, $0) }
  }

  private static func isCode(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
          UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
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
