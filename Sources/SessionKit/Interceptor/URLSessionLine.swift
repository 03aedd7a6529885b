import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A `URLSession` with the delegate that calls need.
///
/// It lives as long as any object can make calls.
final class URLSessionLine: Sendable {
  let delegate: CallDelegate
  let session: URLSession
  let map: CallMap

  init(_ configuration: URLSessionConfiguration, _ map: CallMap) {
    self.map = map
    delegate = CallDelegate(map)
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  deinit {
    // No object can make calls any more. So no task is created in an invalidated `URLSession`,
    // which would trap.
    session.finishTasksAndInvalidate()
  }

  func send(_ call: URLSessionCalls.Call) async throws -> URLSessionCalls.Answer {
    guard let url = call.request.url, url.host?.isEmpty == false else {
      throw SessionError.wrongAddress("the address has no host")
    }
    var call = call
    call.request.url = url.withSmallScheme
    // Time during which the device sleeps does not count.
    let end = map.timeout.map { SuspendingClock.now.advanced(by: $0) }
    for _ in 0..<URLSessionLine.redirects {
      let exchange = CallExchange(call, limit: map.maximumResponseSize)
      if call.hasLeft { exchange.left() }
      let result = await send(call, exchange, until: end)
      guard let next = exchange.next else { return try result.get() }
      guard let body = exchange.hasLeft ? call.bare ?? call.bodyAgain() : call.bodyAgain() else {
        throw SessionError.noConnection("the file with the body cannot be read")
      }
      var following = URLSessionCalls.Call(request: next, body: .data(body))
      (following.bare, following.hasLeft) = (call.bare, exchange.hasLeft)
      following.setBody(body)
      call = following
    }
    throw SessionError.noReply(
      "the server redirected more than \(URLSessionLine.redirects) times")
  }

  /// The maximum number of redirects, which is that of `URLSession` itself.
  private static let redirects = 16

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
    let watch = end.map { end in
      Task { [limit = map.timeout ?? .zero] in
        do { try await Task.sleep(until: end, clock: .suspending) } catch { return }
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
