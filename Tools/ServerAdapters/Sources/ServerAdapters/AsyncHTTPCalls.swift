public import AsyncHTTPClient
public import Foundation
public import SessionHTTP
public import SessionKit

/// Makes an app's calls with AsyncHTTPClient, for `session.calls(by:)`.
///
/// ```swift
/// let calls = session.calls(by: AsyncHTTPCalls())
/// let answer = try await calls.send(HTTPRequest(method: "GET", url: notes))
/// print(answer.response.status)
/// ```
/// Calls share connections. A connection that the server closes just when a call is sent results in `noReply`;
/// `CallRules.attempts` sends a call with a repeatable method again.
///
/// Redirects are followed, at most 16. At another origin a request has no body, no token and none of the app's
/// fields except harmless ones, also if that origin leads back. The redirect itself is the response if the
/// body would have to go to another origin, or if it leads from HTTPS to HTTP.
///
/// Copy it together with `AsyncHTTPExchange.swift`.
public struct AsyncHTTPCalls: CallClient {
  /// The maximum size of a body in bytes; a larger one causes `invalidResponse`.
  public let maximumResponseSize: Int
  private let exchange: AsyncHTTPExchange
  /// Puts the token in its place.
  private let rules = TransportCalls()

  /// Creates a client; copies of it share connections.
  ///
  /// - Parameters:
  ///   - configuration: the settings of the client, such as TLS, a proxy, decompression and the number of
  ///     connections. Redirects and retries of a connection are set here.
  ///   - maximumResponseSize: in bytes, 16 MiB by default.
  public init(
    _ configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
    maximumResponseSize: Int = 16 << 20
  ) {
    self.maximumResponseSize = maximumResponseSize
    exchange = AsyncHTTPExchange(configuration, usesPerConnection: nil)
  }

  /// Returns the request's method and address.
  public func head(of request: HTTPRequest, token place: CallTokenPlace) -> CallHead {
    rules.head(of: request, token: place)
  }

  /// Sets the header field, or the member of the body.
  public func authorize(_ request: inout HTTPRequest, with token: CallToken) throws {
    try rules.authorize(&request, with: token)
  }

  /// Sends the request once to each address to which it is redirected, within the request's `timeout`.
  ///
  /// Throws a `TransportError`, or a `SessionError` with `invalidResponse` if the response is too large.
  public func send(_ request: HTTPRequest) async throws -> AsyncHTTPAnswer {
    let end = SuspendingClock.now + request.timeout
    var next = request
    var isForeign = false
    var requested: Set<String> = []
    // A request that was made before would be answered as before, and a POST would act again.
    while requested.count <= 10,
      requested.insert("\(next.method) \(next.url.absoluteString.prefix { $0 != "#" })").inserted
    {
      let response = try await exchange.send(next, limit: maximumResponseSize)
      guard response.body.count <= maximumResponseSize else {
        throw SessionError(
          .invalidResponse, underlyingError: AsyncHTTPTooLarge(limit: maximumResponseSize))
      }
      let redirect = Redirect(response, to: next, from: request.url, isForeign: isForeign)
      guard let redirect else {
        return AsyncHTTPAnswer(response: response, url: next.url, isForeign: isForeign)
      }
      (next, isForeign) = (redirect.request, redirect.isForeign)
      next.timeout = end - SuspendingClock.now
    }
    throw TransportError.noReply("the server redirects in a circle, or more than 10 times")
  }

  /// Returns the status; `nil` if another origin answered, which cannot refuse the token.
  public func status(of answer: AsyncHTTPAnswer) -> Int? {
    answer.isForeign ? nil : answer.response.status
  }

  /// Returns the response itself.
  public func answer(_ answer: AsyncHTTPAnswer) -> HTTPResponse { answer.response }
}

/// The response to a call, after redirects.
public struct AsyncHTTPAnswer: Sendable {
  /// The response with any status.
  public let response: HTTPResponse
  /// The address that sent it.
  public let url: URL
  /// Whether a redirect led to another origin, to which the token was not sent.
  public let isForeign: Bool
}

/// The body of a response has more bytes than ``AsyncHTTPCalls`` reads.
public struct AsyncHTTPTooLarge: Error, CustomStringConvertible {
  /// The maximum size of a body, in bytes.
  public let limit: Int

  /// One sentence with the limit.
  public var description: String { "the response has more than \(limit) bytes" }
}

/// The request that follows a redirect (RFC 9110 §15.4).
private struct Redirect {
  var request: HTTPRequest
  let isForeign: Bool

  /// The fields that are sent to another origin.
  private static let harmless: Set = [
    "accept", "accept-encoding", "accept-language", "range", "user-agent",
  ]

  /// Returns `nil` if the response is no redirect that may be followed.
  init?(_ response: HTTPResponse, to sent: HTTPRequest, from first: URL, isForeign: Bool) {
    guard [301, 302, 303, 307, 308].contains(response.status),
      let location = response.header("Location"),
      let target = URL(string: location, relativeTo: sent.url)?.absoluteURL,
      let origin = Origin(target), let before = Origin(sent.url),
      before.scheme == origin.scheme || origin.scheme == "https"
    else { return nil }
    self.isForeign = isForeign || origin != Origin(first)
    request = sent
    request.url = target
    let becomesGet =
      response.status == 303 && sent.method != "HEAD"
      || response.status < 303 && sent.method == "POST"
    if becomesGet {
      (request.method, request.body) = ("GET", nil)
      request.headers.removeAll { $0.name.lowercased().hasPrefix("content-") }
    }
    if self.isForeign {
      guard request.body == nil else { return nil }
      request.headers.removeAll { !Self.harmless.contains($0.name.lowercased()) }
    }
  }

  /// Scheme, host and port of an address without a user name.
  private struct Origin: Equatable {
    let scheme: String
    let host: String
    let port: Int

    init?(_ url: URL) {
      guard let scheme = url.scheme?.lowercased(), scheme == "https" || scheme == "http",
        let host = url.host?.lowercased(), !host.isEmpty, url.user == nil, url.password == nil
      else { return nil }
      (self.scheme, self.host) = (scheme, host)
      port = url.port ?? (scheme == "https" ? 443 : 80)
    }
  }
}
