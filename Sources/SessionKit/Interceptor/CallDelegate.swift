import Dispatch
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The delegate of a `URLSession` for many calls.
///
/// It enforces the limits of responses, and sends no token to another origin after a redirect.
final class CallDelegate: NSObject, URLSessionDataDelegate {
  private let exchanges = Mutex<[Int: CallExchange]>([:])
  private let map: CallMap

  init(_ map: CallMap) {
    self.map = map
  }

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
    let exchange = exchange(of: task)
    let isAtHome =
      if let to = request.url, let from = task.originalRequest?.url {
        map.sharesOrigin(to, from)
      } else {
        false
      }
    if !isAtHome { exchange?.left() }
    let next = followed(request, from: task, isAtHome: isAtHome)
    guard let exchange else {
      // The call is one of `bytes(for:)`. A token in its body cannot be removed here.
      let takesToken = !isAtHome && map.token.isInBody && next.keepsBody
      completionHandler(takesToken ? nil : next)
      return
    }
    // RFC 9110 §15.4.8 requires the same method with the same body. On Linux the system does not
    // send the body again, so such a call becomes a new request. The same applies if the token must
    // be removed from the body. A stream has already been read, so the redirect itself is the
    // response.
    let keepsBody =
      [307, 308].contains(response.statusCode)
      || !isAtHome && exchange.call.bare != nil && next.keepsBody
    if keepsBody, !exchange.call.isEmpty {
      if !exchange.call.isStream { exchange.redirected(to: next) }
      completionHandler(nil)
      return
    }
    completionHandler(next)
  }

  /// Returns the request that follows a redirect.
  ///
  /// At the first origin it has the credentials of the first request. At another origin it has
  /// none, not even those that the app set, and neither if it leads back.
  private func followed(
    _ request: URLRequest, from task: URLSessionTask, isAtHome: Bool
  ) -> URLRequest {
    var next = request
    for field in map.credentialFields {
      // Another origin chooses where it leads back to, even many steps later.
      let value = task.currentRequest?.value(forHTTPHeaderField: field)
      next.setValue(isAtHome ? value : nil, forHTTPHeaderField: field)
    }
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

extension URLRequest {
  /// Whether the system sends the body again if it follows a redirect to this request.
  fileprivate var keepsBody: Bool {
    let method = httpMethod?.uppercased() ?? "GET"
    return method != "GET" && method != "HEAD"
  }
}
