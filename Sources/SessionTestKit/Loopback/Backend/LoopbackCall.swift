import Foundation
public import SessionCore
public import SessionHTTP
public import SessionKit

/// A request as the server received it; contains no token, password, e-mail address or body.
public struct LoopbackCall: Sendable, Equatable, CustomStringConvertible {
  /// The outcome of a call.
  public enum Outcome: Sendable, Equatable {
    /// It has no answer yet: it waits at a gate, or it is delayed.
    case waiting
    /// It was answered with this status.
    case answered(status: Int)
    /// A fault dropped the connection before a complete answer was sent.
    case dropped
  }

  /// A rule of the protocol that a client broke; a test expects none
  /// (``LoopbackServer/violations``).
  public enum Violation: Sendable, Equatable {
    /// The refresh request carried `Authorization`.
    ///
    /// - Requirement: REF-4
    case authorizationOnRefresh
    /// The body was not the JSON object that the endpoint needs.
    case body
    /// The path is known, but does not allow the method.
    case method
    /// The bytes were not an HTTP request, or were too many.
    case http
  }

  /// The number of the call among all calls, from 1, in order of arrival.
  public let number: Int
  /// The endpoint of the request.
  public let endpoint: LoopbackEndpoint
  /// The HTTP method; empty for an unreadable request.
  public let method: String
  /// The path without its query; a segment that could be a secret is replaced by `…`.
  public let path: String
  /// The number of its connection, from 1; calls with the same number used the same connection.
  public let connection: Int
  /// The time of arrival by the server's clock.
  public let received: Timestamp
  /// The header fields that contain no secret, by lower-case name; never `authorization` or
  /// `cookie`.
  public let headers: [String: String]
  /// Whether an `Authorization` field was sent.
  public let hasAuthorization: Bool
  /// The number of the access token in it: 1 is the first issued, 0 is unknown, `nil` is none.
  public let accessToken: Int?
  /// The number of the refresh token in it: 1 is the first issued, 0 is unknown, `nil` is none.
  public let refreshToken: Int?
  /// The outcome so far.
  public internal(set) var outcome = Outcome.waiting
  /// The `code` of the error that was answered.
  public internal(set) var code: String?
  /// The rule of the protocol that it broke.
  public internal(set) var violation: Violation?

  /// The status of the answer; `nil` if there is none.
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
}

/// The purpose of a request; the cases are the paths of the EDU protocol.
public enum LoopbackEndpoint: Sendable, Hashable, CaseIterable {
  /// `POST /auth/login`.
  case login
  /// `POST /auth/refresh`.
  case refresh
  /// `POST /auth/switch-context`.
  case switchContext
  /// `POST /auth/logout`.
  case logout
  /// `GET /materials`, the protected resource.
  case materials
  /// `POST /changes`, which accepts offline changes, one for each `Idempotency-Key`.
  case changes
  /// Any other path; the answer is 404.
  case other
  /// Bytes that are not an HTTP request; the answer is 400, 413, 414, 417, 431, 501 or 505.
  case unreadable

  init(path: String) {
    self = Self.allCases.first { $0.path == path } ?? .other
  }

  var path: String? {
    switch self {
    case .login: "/auth/login"
    case .refresh: "/auth/refresh"
    case .switchContext: "/auth/switch-context"
    case .logout: "/auth/logout"
    case .materials: "/materials"
    case .changes: "/changes"
    case .other, .unreadable: nil
    }
  }

  var method: String? {
    switch self {
    case .login, .refresh, .switchContext, .logout, .changes: "POST"
    case .materials: "GET"
    case .other, .unreadable: nil
    }
  }
}

extension HTTPRequest {
  /// Returns a request for a protected resource of the simulated server (`world.server.send`).
  ///
  /// The answer has status 200 while the token is valid, else 401.
  public static func materials(_ token: AccessToken) -> HTTPRequest {
    HTTPRequest(
      method: "GET", url: URL(filePath: "/materials"),
      headers: [HTTPHeader("Authorization", "Bearer \(token.plaintext)")])
  }
}
