import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What many calls need of a `URLSession`: their answers, and that no token follows a redirect to
/// another origin.
final class CallDelegate: NSObject, URLSessionDataDelegate {
  private let exchanges = Mutex<[Int: CallExchange]>([:])
  private let map: CallMap

  init(_ map: CallMap) {
    self.map = map
  }

  /// How many calls are under way.
  var count: Int { exchanges.withLock { $0.count } }

  func start(
    _ task: URLSessionTask, _ exchange: CallExchange,
    answering waiter: CheckedContinuation<CallExchange.Outcome, Never>
  ) {
    exchanges.withLock { $0[task.taskIdentifier] = exchange }
    guard exchange.wait(waiter) else {
      exchanges.withLock { $0[task.taskIdentifier] = nil }
      task.cancel()
      waiter.resume(returning: .failure(.cancelled))
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
    let next = followed(request, from: task)
    // RFC 9110 §15.4.8: the same method with the same body. On Linux the body does not go along, so
    // what has one is a request of its own; a stream has been read, and the redirect is the answer.
    if let exchange = exchange(of: task), [307, 308].contains(response.statusCode),
      !exchange.call.isEmpty
    {
      if !exchange.call.isStream { exchange.redirected(to: next) }
      completionHandler(nil)
      return
    }
    completionHandler(next)
  }

  /// The request that follows a redirect: with the `Authorization` of the first one at its origin, and
  /// with none at another nor back from there, whoever set it.
  private func followed(_ request: URLRequest, from task: URLSessionTask) -> URLRequest {
    var next = request
    let (first, last) = (task.originalRequest, task.currentRequest)
    // What another origin leads back to is of its choosing, however many steps later.
    let value = last?.value(forHTTPHeaderField: "Authorization")
    let isAtHome =
      if let to = request.url, let from = first?.url { map.sharesOrigin(to, from) } else { false }
    next.setValue(isAtHome ? value : nil, forHTTPHeaderField: "Authorization")
    return next
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    exchange(of: dataTask)?.received(response)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    exchange(of: dataTask)?.received(data)
  }

  // Without this, a 401 that names a scheme (RFC 9110 §11.6.1) never ends on Linux.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard challenge.protectionSpace.asksForPassword else {
      completionHandler(.performDefaultHandling, nil)
      return
    }
    exchange(of: task)?.refused(challenge.failureResponse ?? task.response)
    completionHandler(.rejectProtectionSpace, nil)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    let ended = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    ended?.complete(error, late: task.response)
  }
}
