import Dispatch
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request on a session of its own; whichever comes first of answer, error, time-out and
/// cancellation ends it, once.
final class URLSessionExchange: NSObject, URLSessionDataDelegate {
  typealias Outcome = Result<HTTPResponse, TransportError>

  private struct State {
    var waiter: CheckedContinuation<Outcome, Never>?
    var session: URLSession?
    var outcome: Outcome?
    var status: Int?
    var headers: [HTTPHeader] = []
    var body: [UInt8] = []

    var response: HTTPResponse? {
      status.map { HTTPResponse(status: $0, headers: headers, body: body) }
    }
  }

  private let state = Mutex(State())

  func start(_ request: HTTPRequest, answering waiter: CheckedContinuation<Outcome, Never>) {
    let milliseconds = Int(clamping: max(1, min(request.timeout, 86_400_000)))
    let session = URLSession(
      configuration: .withoutMemory(idle: milliseconds), delegate: self, delegateQueue: nil)
    // Made before anybody can end the session: a session that has ended makes no task, it traps.
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
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
      [weak self] in
      self?.finish(.failure(.noReply("the server did not answer within \(milliseconds) ms")))
    }
  }

  /// Ends the exchange; all but the first call do nothing.
  func finish(_ outcome: Outcome) {
    let (waiter, session) = state.withLock { state in
      guard state.outcome == nil else {
        return (CheckedContinuation<Outcome, Never>?.none, URLSession?.none)
      }
      state.outcome = outcome
      defer { (state.waiter, state.session) = (nil, nil) }
      return (state.waiter, state.session)
    }
    // Resumed first: what the session does to end itself is nothing to wait for.
    waiter?.resume(returning: outcome)
    session?.invalidateAndCancel()
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
      state.body.append(contentsOf: data)
      return state.body.count > HTTPResponse.bodyLimit ? state.response : nil
    }
    if let cut { finish(.success(cut)) }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    if let error {
      let hasAnswer = state.withLock { $0.status != nil }
      finish(.failure(TransportError(error, hasAnswer: hasAnswer)))
      return
    }
    let response = state.withLock(\.response)
    finish(response.map(Outcome.success) ?? .failure(.noReply("what came is not HTTP")))
  }
}

extension URLSessionConfiguration {
  /// Keeps nothing; `idle` milliseconds and a little more, so that the exchange's own timer decides.
  fileprivate static func withoutMemory(idle milliseconds: Int) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.urlCache = nil
    configuration.urlCredentialStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.timeoutIntervalForRequest = Double(milliseconds) / 1000 + 5
    return configuration
  }
}

extension URLRequest {
  fileprivate init(_ request: HTTPRequest) {
    self.init(url: request.url)
    httpMethod = request.method
    httpShouldHandleCookies = false
    for field in request.headers { addValue(field.value, forHTTPHeaderField: field.name) }
    httpBody = request.body.map { Data($0) }
  }
}

extension HTTPURLResponse {
  fileprivate var fields: [HTTPHeader] {
    allHeaderFields.map { HTTPHeader("\($0.key)", "\($0.value)") }
  }
}

extension TransportError {
  /// What is certain only: an error that does not prove that nothing was sent is `noReply`.
  fileprivate init(_ error: any Error, hasAnswer: Bool) {
    guard let code = (error as? URLError)?.code else {
      self = .noReply("the connection failed")
      return
    }
    if hasAnswer {
      self = .noReply("the connection ended in the middle of the answer (\(code.rawValue))")
      return
    }
    switch code {
    case .cannotFindHost, .dnsLookupFailed:
      self = .noConnection("the server's name is not found")
    case .cannotConnectToHost:
      self = .noConnection("the server does not accept connections")
    case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
      self = .noConnection("there is no network")
    case .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
      self = .noConnection("the server's certificate is not trusted")
    case .unsupportedURL, .badURL:
      self = .noConnection("the address cannot be used")
    case .timedOut:
      self = .noReply("the server did not answer in time")
    case .networkConnectionLost:
      self = .noReply("the connection was lost before an answer")
    default:
      self = .noReply("the connection failed (\(code.rawValue))")
    }
  }
}
