#if URLSession
import Dispatch
import Foundation
import SessionKit
import Synchronization

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
/// `URLSession` ended the process at two kinds of responses (Swift 6.3.1, `Specs/URLSession.md`).
/// Use another client there.
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

/// One request with a `URLSession` of its own.
///
/// The first of response, error, time limit and cancellation ends it. Later ones have no effect.
private final class URLSessionExchange: NSObject, URLSessionDataDelegate {
  typealias Outcome = Result<HTTPResponse, TransportError>

  private struct State {
    var waiter: CheckedContinuation<Outcome, Never>?
    var session: URLSession?
    var outcome: Outcome?
    var status: Int?
    var headers: [HTTPHeader] = []
    var body: [UInt8] = []
    /// The response that asked for credentials.
    ///
    /// It is used if there is no other response.
    var refusal: HTTPURLResponse?

    var response: HTTPResponse? {
      status.map { HTTPResponse(status: $0, headers: headers, body: body) }
    }
  }

  private let state = Mutex(State())

  func start(_ request: HTTPRequest, answering waiter: CheckedContinuation<Outcome, Never>) {
    let milliseconds = Int(clamping: max(1, min(request.timeout.wholeMilliseconds, 86_400_000)))
    let configuration = URLSessionConfiguration.withoutMemory
    // The exchange measures the time itself, and does not count while the process is suspended.
    configuration.timeoutIntervalForRequest = 86_400
    let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    // Created before any other thread can end the session. Creating a task in an ended session
    // would trap.
    let task = session.dataTask(with: URLRequest(request))
    let early = state.withLock { state -> Outcome? in
      if state.outcome == nil { (state.waiter, state.session) = (waiter, session) }
      return state.outcome
    }
    if let early {
      session.invalidateAndCancel()
      waiter.resume(returning: early)
      return
    }
    task.resume()
    count(URLSessionExchange.turns, of: milliseconds)
  }

  /// The number of intervals into which the time limit is divided.
  private static let turns = 20

  /// Counts down the time in intervals.
  ///
  /// A suspension can use up one interval at most.
  ///
  /// A process that was suspended during a refresh may find the response in its socket when it
  /// continues. A single timer would end before the response is read, and the newest token would be
  /// lost.
  private func count(_ turns: Int, of milliseconds: Int) {
    let turn = DispatchTimeInterval.microseconds(milliseconds * 1000 / URLSessionExchange.turns)
    DispatchQueue.global().asyncAfter(deadline: .now() + turn) { [weak self] in
      guard let self else { return }
      if turns > 1 {
        count(turns - 1, of: milliseconds)
      } else {
        finish(.failure(.noReply("the server did not answer within \(milliseconds) ms")))
      }
    }
  }

  /// Ends the exchange.
  ///
  /// Further calls do nothing.
  func finish(_ outcome: Outcome) {
    let (waiter, session) = state.withLock { state in
      guard state.outcome == nil else {
        return (CheckedContinuation<Outcome, Never>?.none, URLSession?.none)
      }
      state.outcome = outcome
      defer { (state.waiter, state.session, state.body) = (nil, nil, []) }
      return (state.waiter, state.session)
    }
    waiter?.resume(returning: outcome)
    // Not called here: on Linux it waits until the received bytes are decompressed. They would
    // accumulate in memory before the function that reads them.
    if let session { DispatchQueue.global().async { session.invalidateAndCancel() } }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
    finish(.success(HTTPResponse(status: response.statusCode, headers: response.fields)))
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    if let response = response as? HTTPURLResponse {
      state.withLock { state in
        (state.status, state.headers) = (response.statusCode, response.fields)
      }
    }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let cut = state.withLock { state -> HTTPResponse? in
      // Bytes that arrive after the end are not kept, since a compressed body may contain many of
      // them.
      guard state.outcome == nil else { return nil }
      state.body.append(contentsOf: data)
      return state.body.count > HTTPResponse.bodyLimit ? state.response : nil
    }
    if let cut { finish(.success(cut)) }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    completionHandler(
      challenge.withoutPassword { response in
        let refusal = (response ?? task.response) as? HTTPURLResponse
        state.withLock { $0.refusal = refusal }
      }, nil)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    let (response, refusal, body) = state.withLock { ($0.response, $0.refusal, $0.body) }
    if let error {
      // On Linux a refused challenge ends the exchange with the error of a cancellation.
      let code = (error as? URLError)?.code
      let isRefused = code == .cancelled || code == .userAuthenticationRequired
      if let refusal, isRefused || response == nil {
        finish(.success(HTTPResponse(refusal, body: body)))
      } else {
        finish(.failure(TransportError(error, hasAnswer: response != nil)))
      }
      return
    }
    // A redirect without a target arrives without a call of the delegate.
    let late = (task.response as? HTTPURLResponse).map { HTTPResponse($0, body: body) }
    finish(
      (response ?? late).map(Outcome.success) ?? .failure(.noReply("the response is not HTTP")))
  }
}

extension HTTPResponse {
  fileprivate init(_ response: HTTPURLResponse, body: [UInt8]) {
    self.init(status: response.statusCode, headers: response.fields, body: body)
  }
}

extension URLRequest {
  fileprivate init(_ request: HTTPRequest) {
    self.init(url: request.url.withSmallScheme)
    httpMethod = request.method
    httpShouldHandleCookies = false
    for field in request.headers { addValue(field.value, forHTTPHeaderField: field.name) }
    httpBody = request.body.map { Data($0) }
  }
}

extension HTTPURLResponse {
  var fields: [HTTPHeader] {
    allHeaderFields.map { HTTPHeader("\($0.key)", "\($0.value)") }
  }
}

extension TransportError {
  init(_ error: any Error, hasAnswer: Bool) {
    switch ConnectionFailure(error, hasAnswer: hasAnswer) {
    case .nothingSent(let reason): self = .noConnection(reason)
    case .notTrusted(let reason): self = .notTrusted(reason)
    case .mayHaveActed(let reason): self = .noReply(reason)
    }
  }
}
#endif
