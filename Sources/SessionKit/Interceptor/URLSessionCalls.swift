#if URLSession
import Dispatch
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Carries calls with `URLSession`.
struct URLSessionCalls: CallCarrier {
  /// A request and the source of its body.
  struct Call: Sendable {
    enum Body: Sendable {
      /// The body is in the request, or there is none.
      case own
      case data(Data)
      case file(URL)
    }

    var request: URLRequest
    var body = Body.own
    /// The body without the token, for another origin, if the token is in the body.
    var bare: Data?
    /// The proofs of the token, one for each address; `nil` if it needs none.
    var proofs: CallProofs?

    /// The method and the path without the query, for errors.
    var name: String { CallHead(request, isAuthorized: false).name }

    /// Whether the body can be read only once.
    var isStream: Bool {
      guard case .own = body else { return false }
      return request.httpBodyStream != nil
    }

    /// Whether the body is empty.
    var isEmpty: Bool {
      guard case .own = body else { return false }
      return request.httpBodyStream == nil && request.httpBody?.isEmpty ?? true
    }

    /// The bytes of the body; empty if there are none, or if they can be read only once.
    var bytes: [UInt8] { bodyAgain().map { Array($0) } ?? [] }

    /// Replaces the body, and corrects the length that the app may have set.
    mutating func setBody(_ data: Data) {
      if case .own = body { request.httpBody = data } else { body = .data(data) }
      if request.value(forHTTPHeaderField: "Content-Length") != nil {
        request.setValue("\(data.count)", forHTTPHeaderField: "Content-Length")
      }
    }

    /// Returns the body for a second attempt; `nil` if it can be read only once, or cannot be read
    /// any more.
    func bodyAgain() -> Data? {
      switch body {
      case .own: return isStream ? nil : request.httpBody ?? Data()
      case .data(let data): return data
      case .file(let file):
        // The caller decides what a missing body means.
        do { return try Data(contentsOf: file, options: .mappedIfSafe) } catch { return nil }
      }
    }
  }

  /// A complete response.
  struct Answer: Sendable {
    let data: Data
    let response: URLResponse
    /// Whether redirects led to another origin, so that the response does not concern the token.
    let hasLeft: Bool
  }

  let line: URLSessionLine

  init(_ line: URLSessionLine) {
    self.line = line
  }

  func send(_ call: Call) async throws -> Answer {
    try await line.send(call)
  }

  func status(of answer: Answer) -> Int? {
    // A refusal by another origin does not concern our token.
    answer.hasLeft ? nil : (answer.response as? HTTPURLResponse)?.statusCode
  }

  func content(of answer: Answer) -> CallResponse {
    let response = answer.response as? HTTPURLResponse
    return CallResponse(
      status: response?.statusCode ?? 0, fields: response?.callFields ?? [],
      body: Array(answer.data.prefix(JSONMembers.bodyLimit)))
  }
}

/// What calls with `URLSession` share, whether their responses are whole or arrive byte by byte.
extension CallCarrier where Request == URLSessionCalls.Call {
  func head(of call: Request, token place: CallTokenPlace) -> CallHead {
    let isAuthorized =
      switch place {
      case .header(let name, _): call.request.value(forHTTPHeaderField: name) != nil
      case .member: place.isMember(of: call.bytes)
      }
    return CallHead(call.request, isAuthorized: isAuthorized, isStream: call.isStream)
  }

  func authorize(_ call: inout Request, with token: CallToken) throws(SessionError) {
    call.proofs = token.proofs
    switch token.place {
    case .header(let name, _): call.request.setValue(token.plaintext, forHTTPHeaderField: name)
    case .member:
      guard !call.isStream else {
        throw .unusableCall(
          call: call.name, problem: "its token belongs in the body, which is a stream")
      }
      guard let bare = call.bodyAgain() else {
        throw .noConnection("the file with the body cannot be read")
      }
      call.bare = bare
      call.setBody(Data(try token.body(Array(bare), of: call.name)))
    }
  }
}

extension CallHead {
  fileprivate init(_ request: URLRequest, isAuthorized: Bool, isStream: Bool = false) {
    self.init(
      method: request.httpMethod ?? "GET", url: request.url, isAuthorized: isAuthorized,
      isRepeatable: !isStream)
  }
}

extension HTTPURLResponse {
  /// The header fields.
  var callFields: [(name: String, value: String)] {
    allHeaderFields.map { ("\($0.key)", "\($0.value)") }
  }
}

/// A `URLSession` with the delegate that calls need.
///
/// It lives as long as any object can make calls.
final class URLSessionLine: Sendable {
  private let delegate = CallDelegate()
  let session: URLSession
  let map: CallMap
  /// The time limit of one attempt: the shorter one of the rules and of the configuration.
  private let timeout: Duration?

  /// The number of calls that are in progress.
  var callCount: Int { delegate.count }

  /// The delegate of a task that a stream of bytes makes.
  var taskDelegate: any URLSessionTaskDelegate { delegate }

  init(_ configuration: URLSessionConfiguration, _ map: CallMap) {
    self.map = map
    timeout = [map.timeout, configuration.longestTransfer].compactMap(\.self).min()
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  deinit {
    // No object can make calls any more. So no task is created in an invalidated `URLSession`,
    // which would trap.
    session.finishTasksAndInvalidate()
  }

  func send(_ call: URLSessionCalls.Call) async throws -> URLSessionCalls.Answer {
    var redirects = try CallRedirects(call, map)
    // Time during which the device sleeps does not count.
    let end = timeout.map { SuspendingClock.now.advanced(by: $0) }
    while true {
      let exchange = CallExchange(redirects.call, limit: map.maximumResponseSize)
      let (data, response) = try await send(redirects.call, exchange, until: end).get()
      guard try redirects.follow(response) else {
        return URLSessionCalls.Answer(data: data, response: response, hasLeft: redirects.hasLeft)
      }
      try await redirects.prove()
    }
  }

  private func send(
    _ call: URLSessionCalls.Call, _ exchange: CallExchange, until end: SuspendingClock.Instant?
  ) async -> CallExchange.Outcome {
    let request = call.request
    let task =
      switch call.body {
      case .own: session.dataTask(with: request)
      case .data(let data): session.uploadTask(with: request, from: data)
      case .file(let file): session.uploadTask(with: request, fromFile: file)
      }
    // A response of one byte every 300 ms outlasted a `timeoutInterval` of 1 s without an end: that
    // limits silence only.
    let watch = end.map { end in
      Task { [limit = timeout ?? .zero] in
        var left = SuspendingClock.now.duration(to: end)
        while left > .zero {
          do { try await ProcessTimers.shared.sleep(for: left) } catch { return }
          // A timer counts the time during which the device sleeps, and the limit does not.
          left = SuspendingClock.now.duration(to: end)
        }
        exchange.finish(
          .failure(SessionError.responseTooSlow(call: call.name, limit: limit)))
        task.cancel()
      }
    }
    defer { watch?.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { delegate.start(task, exchange, answering: $0) }
    } onCancel: {
      // The exchange ends first, so that the caller does not wait until the task has ended.
      exchange.finish(.failure(SessionError.cancelled))
      task.cancel()
    }
  }
}

/// The delegate of a `URLSession` for many calls.
///
/// It enforces the limits of responses, and follows no redirect.
private final class CallDelegate: NSObject, URLSessionDataDelegate {
  private let exchanges = Mutex<[Int: CallExchange]>([:])

  /// The number of calls that are in progress.
  var count: Int { exchanges.withLock { $0.count } }

  func start(
    _ task: URLSessionTask, _ exchange: CallExchange,
    answering waiter: CheckedContinuation<CallExchange.Outcome, Never>
  ) {
    exchanges.withLock { $0[task.taskIdentifier] = exchange }
    guard exchange.wait(waiter) else {
      exchanges.withLock { $0[task.taskIdentifier] = nil }
      task.cancel()
      waiter.resume(returning: .failure(SessionError.cancelled))
      return
    }
    task.resume()
  }

  private func exchange(of task: URLSessionTask) -> CallExchange? {
    exchanges.withLock { $0[task.taskIdentifier] }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    // The redirect itself is the response. `CallRedirects` follows it.
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    exchange(of: dataTask)?.received(response)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    guard let exchange = exchange(of: dataTask), !exchange.received(data) else { return }
    // Not called here: on Linux `cancel` waits until the received bytes are decompressed. They
    // would accumulate in memory before this function.
    DispatchQueue.global().async { dataTask.cancel() }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    completionHandler(
      challenge.withoutPassword { exchange(of: task)?.refused($0 ?? task.response) }, nil)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    let ended = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    ended?.complete(error, late: task.response)
  }
}

extension URLSessionConfiguration {
  /// The limit that the app set for a whole transfer; `nil` for none.
  ///
  /// In swift-corelibs-foundation of Swift 6.3.1 `timeoutIntervalForResource` has no effect: a
  /// response that trickled lasted as long as the server liked.
  fileprivate var longestTransfer: Duration? {
    let seconds = timeoutIntervalForResource
    // `Duration.seconds` traps at numbers that it cannot hold.
    return seconds > 0 && seconds < 1e9 ? .seconds(seconds) : nil
  }
}
#endif
