public import SessionKit

/// The properties of a request that decide whether it gets the token.
public typealias CallHead = SessionKit.CallHead

/// The session's token in the form in which a call carries it.
///
/// - Requirement: INT-5
public typealias CallToken = SessionKit.CallToken

/// Sends an app's protected calls with any HTTP client, for ``SessionCalls``.
///
/// ```swift
/// struct Client: CallClient {
///   func head(of request: Request, token place: CallTokenPlace) -> CallHead { … }
///   func authorize(_ request: inout Request, with token: CallToken) throws {
///     switch token.place {
///     case .header(let name, _): request.headers[name] = token.plaintext
///     case .member: request.body = try token.body(request.body, of: "POST /rpc")
///     }
///   }
///   func send(_ request: Request) async throws -> Response { … }
///   func status(of response: Response) -> Int? { response.status }
///   func answer(_ response: Response) -> HTTPResponse { … }
/// }
/// ```
/// The client must not send the token to another origin after a redirect. It limits the time and
/// the size of a response itself, since the limits of ``/SessionKit/CallRules`` apply only to
/// ``/SessionKit/SessionInterceptor``. Parts to which it passes the request, such as a logger, see the request
/// with its token.
///
/// - Requirement: INT-4
public protocol CallClient: Sendable {
  /// A request with its body.
  associatedtype Request: Sendable
  /// A response with any status.
  associatedtype Response: Sendable

  /// Returns the properties of a request whose token is in this place.
  func head(of request: Request, token place: CallTokenPlace) -> CallHead

  /// Puts the token in its place, and replaces a value that is there.
  ///
  /// Called again with a proof of possession, whose place is the header field `DPoP`, if the token needs one.
  func authorize(_ request: inout Request, with token: CallToken) throws

  /// Sends a request once.
  func send(_ request: Request) async throws -> Response

  /// Returns the status; `nil` if there is none, or if the response is not from the backend that
  /// was called.
  func status(of response: Response) -> Int?

  /// Returns the response's content, from which the server's code is read.
  ///
  /// Called only if the status may concern the token or the user's account, or if the call had a proof of
  /// possession.
  func answer(_ response: Response) -> HTTPResponse

  /// Returns whether the network caused an error of `send`, so that trying again may help.
  func isTransient(_ error: any Error) -> Bool
}

extension CallClient {
  /// Returns whether the error is `noConnection` or `noReply`, as a ``TransportError`` or as a
  /// `SessionError`.
  public func isTransient(_ error: any Error) -> Bool {
    switch error {
    case TransportError.noConnection, TransportError.noReply: true
    case let error as SessionError: error.isOfNetwork
    default: false
    }
  }
}

/// Sends protected calls with a transport of tokens, for small responses without redirects.
///
/// A response of more than 1 MiB causes `invalidResponse`. The request's `timeout` limits the whole
/// exchange.
///
/// - Requirement: INT-6
public struct TransportCalls: CallClient {
  /// The transport that sends the calls.
  public let transport: any HTTPTransport

  /// Creates a client with this transport.
  ///
  /// By default it is that of a new ``HTTPBackend``.
  public init(_ transport: (any HTTPTransport)? = nil) {
    self.transport = transport ?? standardTransport()
  }

  /// Returns the request's method and address.
  public func head(of request: HTTPRequest, token place: CallTokenPlace) -> CallHead {
    CallHead(
      method: request.method, url: request.url,
      isAuthorized: request.headers.contains { place.isHeader($0.name) }
        || place.isMember(of: request.body ?? []))
  }

  /// Sets the header field, or the member of the body.
  public func authorize(_ request: inout HTTPRequest, with token: CallToken) throws(SessionError) {
    switch token.place {
    case .header(let name, _):
      request.headers.removeAll { $0.isNamed(name) }
      request.headers.append(HTTPHeader(name, token.plaintext))
    case .member:
      request.body = try token.body(request.body ?? [], of: "\(request)")
      if request.headers.contains(where: { $0.isNamed("Content-Length") }) {
        request.headers.removeAll { $0.isNamed("Content-Length") }
        request.headers.append(HTTPHeader("Content-Length", "\(request.body?.count ?? 0)"))
      }
    }
  }

  /// Sends the request once.
  public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    let response = try await transport.send(request)
    // A transport stops reading after this size, so the body is incomplete.
    guard response.body.count <= JSONMembers.bodyLimit else {
      throw SessionError.responseTooLarge(call: "\(request)", limit: JSONMembers.bodyLimit)
    }
    return response
  }

  /// Returns the status.
  public func status(of response: HTTPResponse) -> Int? { response.status }

  /// Returns the response itself.
  public func answer(_ response: HTTPResponse) -> HTTPResponse { response }
}
