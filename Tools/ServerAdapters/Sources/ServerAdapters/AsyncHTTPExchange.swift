import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SessionHTTP

/// A client of AsyncHTTPClient that sends each request once, within its time limit.
///
/// `AsyncHTTPTransport` and `AsyncHTTPCalls` need this file. The client belongs to this object, because some of
/// its settings decide about tokens: see `init`. It closes its connections when the object is released.
final class AsyncHTTPExchange: Sendable {
  private typealias Outcome = Result<HTTPResponse, TransportError>

  private let client: HTTPClient
  /// Whether the client asks for a compressed response, and decompresses it.
  private let decompresses: Bool

  /// Creates a client with these settings, except for redirects, retries and the uses of a connection.
  init(_ configuration: HTTPClient.Configuration, usesPerConnection: Int?) {
    var configuration = configuration
    // The client would keep a token in another field than `Authorization`, or in the body, when it follows a
    // redirect to another origin.
    configuration.redirectConfiguration = .disallow
    // A refused connection is an answer. The session has its own retries, which the journal shows.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.maximumUsesPerConnection = usesPerConnection
    if case .enabled = configuration.decompression {
      decompresses = true
    } else {
      decompresses = false
    }
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  deinit {
    // The client lives until its connections are closed.
    client.shutdown { _ in }
  }

  /// Sends a request once, and returns the response with any status.
  ///
  /// If a body has more than `limit` bytes, the rest is not read, and the response has one byte more.
  func send(_ request: HTTPRequest, limit: Int) async throws(TransportError) -> HTTPResponse {
    // The client's own deadline ends with the head of the response, so it is not used.
    let outcome = await withTaskGroup(of: Outcome.self) { group in
      group.addTask { await self.exchange(request, limit: limit) }
      group.addTask { await Self.timeLimit(of: request) }
      defer { group.cancelAll() }
      return await group.next() ?? .failure(.cancelled)
    }
    return try outcome.get()
  }

  private func exchange(_ request: HTTPRequest, limit: Int) async -> Outcome {
    var hasAnswer = false
    do {
      let response = try await client.execute(
        HTTPClientRequest(request, decompresses: decompresses), deadline: .distantFuture)
      hasAnswer = true
      var body: [UInt8] = []
      for try await part in response.body {
        body.append(contentsOf: part.readableBytesView.prefix(limit + 1 - body.count))
        if body.count > limit { break }
      }
      // The end of a cancelled body is not the end of the response.
      guard !Task.isCancelled else { return .failure(.cancelled) }
      let headers = response.headers.map { HTTPHeader($0.name, $0.value) }
      return .success(
        HTTPResponse(status: Int(response.status.code), headers: headers, body: body))
    } catch {
      return .failure(
        Task.isCancelled ? .cancelled : TransportError(error, hasAnswer: hasAnswer))
    }
  }

  /// Waits until the time of a request is over.
  ///
  /// It counts in twenty intervals. A process that was stopped in the meantime loses one of them at most, and
  /// then reads the response that is in its socket. With a single interval, a new token would be lost.
  private static func timeLimit(of request: HTTPRequest) async -> Outcome {
    let limit = min(max(request.timeout, .milliseconds(1)), .seconds(86_400))
    do {
      for _ in 0..<20 { try await Task.sleep(for: limit / 20) }
    } catch {
      return .failure(.cancelled)
    }
    return .failure(.noReply("the server did not answer within \(limit)"))
  }
}

extension HTTPClientRequest {
  fileprivate init(_ request: HTTPRequest, decompresses: Bool) {
    self.init(url: request.url.absoluteString)
    method = HTTPMethod(rawValue: request.method)
    headers = HTTPHeaders(request.headers.map { ($0.name, $0.value) })
    // Without this field a server may choose a coding that the client does not decode (RFC 9110 §12.5.3).
    if !decompresses, !headers.contains(name: "Accept-Encoding") {
      headers.add(name: "Accept-Encoding", value: "identity")
    }
    body = request.body.map { .bytes($0) }
  }
}

extension TransportError {
  /// Says what an error of the client means for the server.
  ///
  /// If the error does not prove that nothing was sent, the result is `noReply`. This decides about a lost
  /// refresh: after `noReply` the server may have replaced the refresh token.
  init(_ error: any Error, hasAnswer: Bool) {
    guard !hasAnswer else {
      self = .noReply("the connection ended in the middle of the response")
      return
    }
    switch error {
    case let error as HTTPClientError: self.init(error)
    case let error as NIOConnectionError:
      // Every attempt to connect failed, so there was no connection.
      self = .noConnection(
        error.connectionErrors.isEmpty
          ? "the server's name was not found" : "the server does not accept connections")
    case let error as IOError where error.errnoCode == ECONNREFUSED:
      self = .noConnection("the server does not accept connections")
    case ChannelError.connectTimeout: self = .noConnection("no connection was made in time")
    case NIOSSLError.handshakeFailed(let cause):
      // The request follows the handshake.
      self =
        "\(cause)".contains("CERTIFICATE_VERIFY_FAILED")
        ? .notTrusted(Self.untrusted) : .noConnection("no secure connection was established")
    case NIOSSLError.unableToValidateCertificate, NIOSSLError.noCertificateToValidate:
      self = .notTrusted(Self.untrusted)
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
      self = .notTrusted(Self.untrusted)
    case is HTTPParserError: self = .noReply("the response cannot be read")
    default: self = .noReply("the connection was lost before the response")
    }
  }

  private init(_ error: HTTPClientError) {
    switch error {
    case .invalidURL, .emptyHost, .emptyScheme: self = .badAddress("the address cannot be used")
    case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout:
      self = .noConnection("no connection was made in time")
    case .httpProxyHandshakeTimeout, .socksHandshakeTimeout, .invalidProxyResponse,
      .proxyAuthenticationRequired:
      self = .noConnection("the proxy made no connection")
    case .alreadyShutdown: self = .noConnection("the client has been shut down")
    case .remoteConnectionClosed: self = .noReply("the connection was lost before the response")
    default:
      self =
        error.shortDescription.hasPrefix("Invalid header field")
        ? .badAddress("a header field has a character that is not allowed")
        : .noReply("the connection failed")
    }
  }

  private static let untrusted = "the server's certificate is not trusted"
}
