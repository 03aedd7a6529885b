import Foundation
import SessionKit

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends requests with `URLSession`: no cookies, no cache, no stored credentials, no redirects.
///
/// Each request has its own session and therefore its own connection. A server may close a kept
/// connection just when the next request is sent. Then a client either repeats the request
/// silently, which uses a rotating refresh token twice, or on Linux waits until its time limit.
/// Token requests are rare enough for a connection each.
///
/// This type enforces the time limit for the whole exchange, including the name look-up. On Linux,
/// `URLSession` ends the process after two kinds of response: a trailer field, and a connection
/// that closes right after the status line (`Specs/URLSession.md`).
public struct URLSessionTransport: HTTPTransport {
  /// Whether plain HTTP is allowed to every host, not only to loopback.
  ///
  /// - Requirement: STO-4
  public let allowsInsecure: Bool

  /// Creates a transport.
  ///
  /// `allowsInsecure` is for development with a server in the local network.
  public init(allowsInsecure: Bool = false) {
    self.allowsInsecure = allowsInsecure
  }

  /// Sends a request once, on its own connection.
  ///
  /// If a body has more than 1 MiB, the rest is not read. The response then contains a little more
  /// than 1 MiB, which every reader of a ``HTTPBackend`` refuses. Throws `insecure`, or
  /// `badAddress` for an address without a host, before any name look-up.
  ///
  /// - Requirement: STO-4
  public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    guard let host = request.url.host, !host.isEmpty else {
      throw .badAddress("the address has no host")
    }
    guard allowsInsecure ? request.url.isWeb : request.url.isSecure else {
      throw .insecure(host: host)
    }
    // URLSession would turn them into a header field, even in a refresh (REF-4, STO-3).
    guard request.url.user == nil, request.url.password == nil else {
      throw .badAddress("the address contains a user name or password, which no URL may contain")
    }
    let exchange = URLSessionExchange()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { exchange.start(request, answering: $0) }
    } onCancel: {
      exchange.finish(.failure(.cancelled))
    }
    return try result.get()
  }
}
