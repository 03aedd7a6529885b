public import SessionCore

/// One request as the server received it; holds no token, password, e-mail address or body.
public struct LoopbackCall: Sendable, Equatable, CustomStringConvertible {
  /// What became of a call.
  public enum Outcome: Sendable, Equatable {
    /// It is not answered yet: it waits at a gate, or is delayed.
    case waiting
    /// It was answered with this status.
    case answered(status: Int)
    /// The connection was dropped before a whole answer was sent, as a fault asked.
    case dropped
  }

  /// A rule of the wire that a client broke; a test asks for none (``LoopbackServer/violations``).
  public enum Violation: Sendable, Equatable {
    /// The refresh request carried `Authorization`.
    ///
    /// - Requirement: REF-4
    case authorizationOnRefresh
    /// The body was not the JSON that the endpoint needs.
    case body
    /// The path is right and the method is wrong.
    case method
    /// The bytes were no HTTP request, or too many.
    case http
  }

  /// The position among all calls, from 1, in order of arrival.
  public let number: Int
  /// What it was for.
  public let endpoint: LoopbackEndpoint
  /// The HTTP method; empty for an unreadable request.
  public let method: String
  /// The path without query; a segment that could be a secret is shown as `…`.
  public let path: String
  /// Which connection it came on, from 1: two calls of one number shared a connection.
  public let connection: Int
  /// When it arrived, by the server's clock.
  public let received: Timestamp
  /// The harmless header fields, by lower case name; never `authorization` nor `cookie`.
  public let headers: [String: String]
  /// Whether an `Authorization` field was sent.
  public let hasAuthorization: Bool
  /// Which access token was presented: 1 is the first issued, 0 one never issued, nil none.
  public let accessToken: Int?
  /// Which refresh token was presented: 1 is the first issued, 0 one never issued, nil none.
  public let refreshToken: Int?
  /// What became of it.
  public internal(set) var outcome = Outcome.waiting
  /// The `code` of the error that was answered.
  public internal(set) var code: String?
  /// The rule of the wire that it broke.
  public internal(set) var violation: Violation?

  /// The status that was answered, or nil while there is none.
  public var status: Int? {
    if case .answered(let status) = outcome { return status }
    return nil
  }

  /// One line, such as `#4 conn 1 POST /auth/refresh refresh#1 → 401 TOKEN_EXPIRED`.
  public var description: String {
    var words = ["#\(number)", "conn \(connection)"]
    words += endpoint == .unreadable ? ["unreadable"] : [method, path]
    if let accessToken { words.append("access#\(accessToken)") }
    if let refreshToken { words.append("refresh#\(refreshToken)") }
    words.append("→")
    switch outcome {
    case .waiting: words.append("waiting")
    case .answered(let status): words.append(String(status))
    case .dropped: words.append("dropped")
    }
    if let code { words.append(code) }
    if let violation { words.append("(violation: \(violation))") }
    return words.joined(separator: " ")
  }

  static let harmlessHeaders: Set<String> = [
    "accept", "accept-encoding", "accept-language", "connection", "content-length",
    "content-type", "expect", "idempotency-key", "transfer-encoding",
  ]

  /// A path as it may be shown: only short segments of letters, as routes have them.
  package static func withoutSecrets(path: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false)
      .map { segment in
        let isRoute =
          segment.utf8.count <= 24
          && segment.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
          }
        return isRoute ? String(segment) : "…"
      }
      .joined(separator: "/")
  }
}
