public import Foundation

/// What the rule of calls must know of a request.
public struct CallHead: Sendable {
  /// The method, such as `GET`.
  public let method: String
  /// The whole address.
  public let url: URL?
  /// Whether it has an `Authorization` of its own.
  public let isAuthorized: Bool
  /// Whether its body can be sent once more; `false` for a stream.
  public let isRepeatable: Bool

  /// The head of a request.
  public init(method: String, url: URL?, isAuthorized: Bool, isRepeatable: Bool = true) {
    self.method = method
    self.url = url
    self.isAuthorized = isAuthorized
    self.isRepeatable = isRepeatable
  }

  /// RFC 9110 §9.2.2.
  var isIdempotent: Bool {
    switch method.uppercased() {
    case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
    default: false
    }
  }
}

/// What carries an app's protected calls: any HTTP client, made known to ``SessionCalls``.
///
/// ```swift
/// struct Client: CallClient {
///   func head(of request: Request) -> CallHead { … }
///   func authorize(_ request: inout Request, with value: Secret) {
///     request.headers["Authorization"] = value.value
///   }
///   func send(_ request: Request) async throws -> Response { … }
///   func status(of response: Response) -> Int? { response.status }
///   func answer(_ response: Response) -> HTTPResponse { … }
/// }
/// ```
/// It follows no redirect to another origin with the `Authorization` field, and ends in time when
/// nothing comes. What stands behind it, such as a logger, sees the request as it goes out (INT-4).
public protocol CallClient: Sendable {
  /// A request with its body.
  associatedtype Request: Sendable
  /// Whatever is answered, whatever its status.
  associatedtype Response: Sendable

  /// What the rule must know of a request.
  func head(of request: Request) -> CallHead

  /// Sets the `Authorization` field to this value, `Bearer` and the token, in place of any other.
  func authorize(_ request: inout Request, with value: Secret)

  /// Sends a request once.
  func send(_ request: Request) async throws -> Response

  /// The answer's status; `nil` where it has none, or is not of the backend that was called.
  func status(of response: Response) -> Int?

  /// The answer, to be read for the server's code; asked only where the status may be a refusal.
  func answer(_ response: Response) -> HTTPResponse

  /// Whether an error that `send` threw is the network's fault, so that trying again may help.
  func mayPass(_ error: any Error) -> Bool
}

extension CallClient {
  /// `noConnection` and `noReply`, as ``TransportError`` and as ``SessionError``.
  public func mayPass(_ error: any Error) -> Bool {
    switch error {
    case TransportError.noConnection, TransportError.noReply: true
    case SessionError.noConnection, SessionError.noReply: true
    default: false
    }
  }
}

/// A transport of tokens that carries protected calls too: small answers, no redirects.
public struct TransportCalls: CallClient {
  /// What carries them.
  public let transport: any HTTPTransport

  /// Calls by this transport.
  public init(_ transport: any HTTPTransport = URLSessionTransport()) {
    self.transport = transport
  }

  /// The request's method and address.
  public func head(of request: HTTPRequest) -> CallHead {
    CallHead(
      method: request.method, url: request.url,
      isAuthorized: request.headers.contains { $0.isNamed("Authorization") })
  }

  /// Sets the field.
  public func authorize(_ request: inout HTTPRequest, with value: Secret) {
    request.headers.removeAll { $0.isNamed("Authorization") }
    request.headers.append(HTTPHeader("Authorization", value.value))
  }

  /// Sends it once.
  public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    try await transport.send(request)
  }

  /// The status.
  public func status(of response: HTTPResponse) -> Int? { response.status }

  /// The answer itself.
  public func answer(_ response: HTTPResponse) -> HTTPResponse { response }
}
