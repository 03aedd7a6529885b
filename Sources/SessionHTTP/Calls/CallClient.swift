public import Foundation
public import SessionKit

/// What the rules of calls must know of a request.
public struct CallHead: Sendable {
  let outline: CallOutline

  /// Creates the head of a request.
  ///
  /// - Parameters:
  ///   - method: the method, such as `GET`.
  ///   - url: the whole address.
  ///   - isAuthorized: whether the request has something in the token's place already, such as an `Authorization`
  ///     field of its own.
  ///   - isRepeatable: whether its body can be sent again; `false` for a stream.
  public init(method: String, url: URL?, isAuthorized: Bool, isRepeatable: Bool = true) {
    outline = CallOutline(
      method: method, url: url, isAuthorized: isAuthorized, isRepeatable: isRepeatable)
  }
}

/// The session's token as a call carries it.
///
/// - Requirement: INT-5
public struct CallToken: Sendable {
  private let token: CarriedToken

  init(_ token: CarriedToken) {
    self.token = token
  }

  /// Where it travels.
  public var place: CallTokenPlace { token.place }
  /// The text of the header field, with its scheme, or of the member.
  ///
  /// - Requirement: STO-3
  public var plaintext: String { token.plaintext }

  /// The body with the token as its first member; every other byte stays as it is.
  ///
  /// Throws `refused` if the body is no JSON object.
  public func body(_ body: [UInt8], of call: String) throws(SessionError) -> [UInt8] {
    try token.body(body, of: call)
  }
}

/// What carries an app's protected calls: any HTTP client, made known to ``SessionCalls``.
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
/// It follows no redirect to another origin with the token, and bounds the time and the size of a
/// response itself: the limits of ``CallRules`` are those of ``SessionInterceptor``. What it passes the request to,
/// such as a logger, sees the request as it goes out.
///
/// - Requirement: INT-4
public protocol CallClient: Sendable {
  /// A request with its body.
  associatedtype Request: Sendable
  /// Whatever is answered, whatever its status.
  associatedtype Response: Sendable

  /// What the rule must know of a request whose token travels in this place.
  func head(of request: Request, token place: CallTokenPlace) -> CallHead

  /// Puts the token in its place, instead of anything that is there.
  func authorize(_ request: inout Request, with token: CallToken) throws

  /// Sends a request once.
  func send(_ request: Request) async throws -> Response

  /// The answer's status; `nil` where it has none, or is not of the backend that was called.
  func status(of response: Response) -> Int?

  /// The answer, to be read for the server's code; asked only if its status may say something of the
  /// token or of the user's account.
  func answer(_ response: Response) -> HTTPResponse

  /// Whether an error that `send` threw is the network's fault, so that trying again may help.
  func mayPass(_ error: any Error) -> Bool
}

extension CallClient {
  /// `noConnection` and `noReply`, as ``TransportError`` and as `SessionError`.
  public func mayPass(_ error: any Error) -> Bool {
    switch error {
    case TransportError.noConnection, TransportError.noReply: true
    case let error as SessionError: error.isOfNetwork
    default: false
    }
  }
}

/// A transport of tokens that carries protected calls too: small responses, no redirects.
///
/// A response of more than 1 MiB is an `invalidResponse`. The request's `timeout` bounds the whole
/// exchange.
///
/// - Requirement: INT-6
public struct TransportCalls: CallClient {
  /// What carries them.
  public let transport: any HTTPTransport

  /// Calls by this transport.
  public init(_ transport: any HTTPTransport = URLSessionTransport()) {
    self.transport = transport
  }

  /// The request's method and address.
  public func head(of request: HTTPRequest, token place: CallTokenPlace) -> CallHead {
    CallHead(
      method: request.method, url: request.url,
      isAuthorized: request.headers.contains { place.isHeader($0.name) }
        || place.isMember(of: request.body ?? []))
  }

  /// Sets the field, or the member of the body.
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

  /// Sends it once.
  public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    let response = try await transport.send(request)
    // A transport reads no further: what is there is a beginning.
    guard response.body.count <= JSONMembers.bodyLimit else {
      throw SessionError.responseTooLarge(call: "\(request)", limit: JSONMembers.bodyLimit)
    }
    return response
  }

  /// The status.
  public func status(of response: HTTPResponse) -> Int? { response.status }

  /// The answer itself.
  public func answer(_ response: HTTPResponse) -> HTTPResponse { response }
}
