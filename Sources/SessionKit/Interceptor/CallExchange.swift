import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One call on a shared `URLSession`; whichever comes first of answer, error and cancellation ends it,
/// once.
final class CallExchange: Sendable {
  typealias Outcome = Result<URLSessionCalls.Answer, TransportError>

  private struct State {
    var waiter: CheckedContinuation<Outcome, Never>?
    var isOver = false
    var response: URLResponse?
    var data = Data()
    /// The answer that asked for credentials; it is the answer where no other comes.
    var refusal: URLResponse?
    /// What the answer says to send in its place, with the same body.
    var next: URLRequest?
  }

  /// What is sent, for a redirect that says to send it again.
  let call: URLSessionCalls.Call
  private let state = Mutex(State())

  init(_ call: URLSessionCalls.Call) {
    self.call = call
  }

  /// Takes whoever waits; `false` where it is over already.
  func wait(_ waiter: CheckedContinuation<Outcome, Never>) -> Bool {
    state.withLock { state in
      if !state.isOver { state.waiter = waiter }
      return !state.isOver
    }
  }

  /// Ends the call; all but the first time this does nothing.
  func finish(_ outcome: Outcome) {
    let waiter = state.withLock { state in
      defer { (state.waiter, state.isOver, state.data) = (nil, true, Data()) }
      return state.waiter
    }
    waiter?.resume(returning: outcome)
  }

  func received(_ response: URLResponse) {
    state.withLock { $0.response = response }
  }

  func received(_ data: Data) {
    state.withLock { $0.data.append(data) }
  }

  /// What to send next in place of this.
  var next: URLRequest? { state.withLock { $0.next } }

  func redirected(to next: URLRequest) {
    state.withLock { $0.next = next }
  }

  func refused(_ response: URLResponse?) {
    state.withLock { $0.refusal = response }
  }

  /// Ends the call with what there is; `late` is an answer that was not announced.
  func complete(_ error: (any Error)?, late: URLResponse?) {
    let (response, refusal, data) = state.withLock { ($0.response, $0.refusal, $0.data) }
    finish(CallExchange.outcome(response, refusal, data, error, late))
  }

  private static func outcome(
    _ response: URLResponse?, _ refusal: URLResponse?, _ data: Data, _ error: (any Error)?,
    _ late: URLResponse?
  ) -> Outcome {
    if let error {
      // On Linux a refused challenge ends the exchange as if somebody had cancelled it.
      let code = (error as? URLError)?.code
      let isRefused = code == .cancelled || code == .userAuthenticationRequired
      if let refusal, isRefused || response == nil {
        return .success(URLSessionCalls.Answer(data: data, response: refusal))
      }
      return .failure(TransportError(error, hasAnswer: response != nil))
    }
    // A redirect that says nowhere to comes without having been announced.
    guard let response = response ?? late else {
      return .failure(.noReply("what came is not HTTP"))
    }
    return .success(URLSessionCalls.Answer(data: data, response: response))
  }
}
