import Foundation
import SessionKit

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Carries requests with `URLSession`: no cookies, no cache, no stored credentials, no redirects.
///
/// Each request has a session and so a connection of its own. A connection that is kept may be
/// closed by the server just as the next request goes out; a client then either repeats the request
/// in silence, which spends a rotating refresh token twice, or (on Linux) waits until its time-out.
/// Requests for tokens are rare enough to pay for a connection each.
///
/// The time-out is kept by this type and is for the whole exchange, name look-up included. On Linux
/// two answers are out of its reach, since `URLSession` ends the process: a trailer field, and a
/// connection that ends in order right after the status line (`Specs/URLSession.md`).
public struct URLSessionTransport: HTTPTransport {
  /// Whether plain HTTP is let through to every host, not to loopback alone.
  ///
  /// - Requirement: STO-4
  public let allowsInsecure: Bool

  /// A transport; `allowsInsecure` is for development against a machine in the same room.
  public init(allowsInsecure: Bool = false) {
    self.allowsInsecure = allowsInsecure
  }

  /// Sends a request once, on a connection of its own.
  ///
  /// A body of more than 1 MiB is not read to its end: the answer then holds its beginning, a little
  /// more than 1 MiB, which every reader of a ``HTTPBackend`` refuses. Throws `insecure`, or `badAddress`
  /// for an address without a host, before anything is looked up or sent.
  ///
  /// - Requirement: STO-4
  public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    guard let host = request.url.host, !host.isEmpty else {
      throw .badAddress("the address has no host")
    }
    guard allowsInsecure ? request.url.isWeb : request.url.isSecure else {
      throw .insecure(host: host)
    }
    // URLSession would make a header field of them, on a refresh as well (REF-4, STO-3).
    guard request.url.user == nil, request.url.password == nil else {
      throw .badAddress("the address holds a user name or password, which no URL may")
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
