public import AsyncHTTPClient
import Foundation
public import SessionHTTP

/// Sends a session's requests for tokens with AsyncHTTPClient: no redirects, no cookies, no retries.
///
/// ```swift
/// var backend = HTTPBackend.oauth(token: token)
/// backend.transport = AsyncHTTPTransport()
/// ```
/// Each request has its own connection. A server may close a kept connection just when the next request is sent,
/// and then it is not known whether the server has replaced the refresh token.
///
/// Copy it together with `AsyncHTTPExchange.swift`.
public struct AsyncHTTPTransport: HTTPTransport {
  // The adapters are files to copy. As products of the root package, their packages would be
  // fetched by every app, also one for a phone, and traits that are off are still resolved by older
  // tools. A package in a folder cannot be a dependency by URL. A second repository would follow
  // each change of the protocols late. It owns its client: the settings of one that an app passes
  // cannot be read, so neither redirects nor retries could be excluded, and a redirect may take a
  // token in another field to another origin.

  /// The size of a response in bytes beyond which every reader of a token refuses it: 1 MiB.
  static let bodyLimit = 1 << 20

  /// Whether plain HTTP is allowed to every host, not only to loopback.
  public let allowsInsecure: Bool
  private let exchange: AsyncHTTPExchange

  /// Creates a transport; copies of it share a client.
  ///
  /// - Parameters:
  ///   - configuration: the settings of the client, such as TLS, a proxy, and the time to connect. Redirects,
  ///     retries of a connection and the number of its uses are set by the transport.
  ///   - allowsInsecure: for development with a server in the local network.
  public init(
    _ configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
    allowsInsecure: Bool = false
  ) {
    self.allowsInsecure = allowsInsecure
    exchange = AsyncHTTPExchange(configuration, usesPerConnection: 1)
  }

  /// Sends a request once, on its own connection.
  ///
  /// If a body has more than 1 MiB, the rest is not read. The response then has one byte more than 1 MiB, which
  /// every reader of an `HTTPBackend` refuses. Throws `insecure` or `badAddress` before any name look-up.
  public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    guard let host = request.url.host, !host.isEmpty else {
      throw .badAddress("the address has no host")
    }
    let scheme = request.url.scheme?.lowercased()
    guard scheme == "https" || scheme == "http" && (allowsInsecure || isLoopback(host)) else {
      throw .insecure(host: host)
    }
    guard request.url.user == nil, request.url.password == nil else {
      throw .badAddress("the address contains a user name or password, which no URL may contain")
    }
    return try await exchange.send(request, limit: Self.bodyLimit)
  }

  private func isLoopback(_ host: String) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return ["localhost", "::1", "[::1]"].contains(host.lowercased())
      || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}
