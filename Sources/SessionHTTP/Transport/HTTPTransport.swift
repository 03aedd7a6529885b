import Foundation
public import SessionKit

/// Sends requests to the backend: `URLSession` in an app, anything in a test.
public protocol HTTPTransport: Sendable {
  /// Sends a request once and returns the response with any status.
  ///
  /// It never repeats a request and never follows a redirect. It ends within the request's time
  /// limit, even if the server stays silent. It ends at once when the calling task is cancelled.
  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse
}

/// Why a request has no response.
///
/// The case says whether the server may have acted.
public enum TransportError: Error, Hashable, Sendable {
  /// It is certain that nothing was sent: refused, name not found, offline.
  ///
  /// The reason is a short sentence.
  case noConnection(String)
  /// The server's certificate is not trusted, and nothing was sent. The reason is a short sentence.
  case notTrusted(String)
  /// The address cannot be used, for example because it has no host.
  ///
  /// Nothing was sent. The problem is a short sentence.
  case badAddress(String)
  /// The request was or may have been sent, but there was no complete response.
  ///
  /// The server may have acted.
  case noReply(String)
  /// The address is neither HTTPS nor loopback, and is not allowed.
  ///
  /// Nothing was sent.
  ///
  /// - Requirement: STO-4
  case insecure(host: String)
  /// The caller cancelled the request.
  ///
  /// The server may have acted.
  case cancelled
}

extension TransportError: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage {
    switch self {
    case .noConnection: .noConnection
    case .noReply: .noAnswer
    case .badAddress: .appNotSetUp
    case .insecure, .notTrusted: .insecureConnection
    case .cancelled: .cancelled
    }
  }
}

extension TransportError: CustomStringConvertible {
  /// A description of what happened and what it means.
  ///
  /// It never contains an address's query or sent data.
  public var description: String {
    switch self {
    case .badAddress(let problem): "nothing was sent: \(problem)"
    case .noConnection(let reason), .notTrusted(let reason): "nothing was sent: \(reason)"
    case .noReply(let reason): "no response arrived, and the server may have acted: \(reason)"
    case .insecure(let host):
      host.isEmpty
        ? "nothing was sent: the address has no host"
        : "nothing was sent: the address of \(host) is not HTTPS; use https, or allow insecure "
          + "connections"
    case .cancelled: "the request was cancelled, and the server may have acted"
    }
  }
}

/// Returns the transport that is used if the app sets none.
package func standardTransport() -> any HTTPTransport {
  #if URLSession
  URLSessionTransport()
  #else
  MissingTransport()
  #endif
}

#if !URLSession
/// Sends nothing: the package was built without an HTTP client, and the app gave none.
private struct MissingTransport: HTTPTransport {
  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    throw .badAddress(
      "the package trait URLSession is off, so the app must set the transport of its HTTPBackend")
  }
}
#endif
