import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A `URLSession` with what calls need of its delegate, for as long as somebody makes calls.
final class URLSessionLine: Sendable {
  let delegate: CallDelegate
  let session: URLSession
  private let map: CallMap

  init(_ configuration: URLSessionConfiguration, _ map: CallMap) {
    self.map = map
    delegate = CallDelegate(map)
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  deinit {
    // Nobody makes calls any more, so no task is made of a session that has ended, which would trap.
    session.finishTasksAndInvalidate()
  }

  func send(_ call: URLSessionCalls.Call) async throws(TransportError) -> URLSessionCalls.Answer {
    guard let url = call.request.url, url.host?.isEmpty == false else {
      throw .badAddress("the address has no host")
    }
    var call = call
    call.request.url = url.withSmallScheme
    for _ in 0..<URLSessionLine.redirects {
      let exchange = CallExchange(call)
      let result = await send(call, exchange)
      guard let next = exchange.next else { return try result.get() }
      guard let body = call.bodyAgain() else {
        throw .noConnection("the file with the body cannot be read")
      }
      call = URLSessionCalls.Call(request: next, body: .data(body))
    }
    throw .noReply("the server redirects more than \(URLSessionLine.redirects) times")
  }

  /// As many as `URLSession` itself follows.
  private static let redirects = 16

  private func send(_ call: URLSessionCalls.Call, _ exchange: CallExchange) async
    -> CallExchange.Outcome
  {
    let request = call.request
    let task =
      switch call.body {
      case .own: session.dataTask(with: request)
      case .data(let data): session.uploadTask(with: request, from: data)
      case .file(let file): session.uploadTask(with: request, fromFile: file)
      }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { delegate.start(task, exchange, answering: $0) }
    } onCancel: {
      // Before the task: what that does to end itself is nothing to wait for.
      exchange.finish(.failure(.cancelled))
      task.cancel()
    }
  }

  /// The status, unless another origin has answered: what that refuses is not our token.
  func status(of response: URLResponse) -> Int? {
    guard let response = response as? HTTPURLResponse else { return nil }
    if let url = response.url, map.target(url) != .own { return nil }
    return response.statusCode
  }
}
