import Dispatch
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What many calls need of a `URLSession`: their responses within their limits, and that no token
/// follows a redirect to another origin.
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
      // A stream of bytes: the token in its body cannot be taken out here.
      let takesToken = !isAtHome && map.token.isInBody && next.keepsBody
      completionHandler(takesToken ? nil : next)
      return
    }
    // RFC 9110 §15.4.8: the same method with the same body. On Linux the body does not go along, so
    // such a call is a request of its own; so is one that has to leave the token in its body behind. A
    // stream has been read, and the redirect is the response.
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

  /// The request that follows a redirect: with the credentials of the first one at its origin, and with
  /// none at another nor back from there, also if the app set them.
  private func followed(
    _ request: URLRequest, from task: URLSessionTask, isAtHome: Bool
  ) -> URLRequest {
    var next = request
    for field in map.credentialFields {
      // What another origin leads back to is of its choosing, however many steps later.
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
    // Not here: on Linux `cancel` waits until the bytes that are there have been decompressed, and
    // they would pile up in memory in front of this function.
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
  /// Whether the body goes along if the system follows a redirect to this request.
  fileprivate var keepsBody: Bool {
    let method = httpMethod?.uppercased() ?? "GET"
    return method != "GET" && method != "HEAD"
  }
}
