import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request of a call on a shared `URLSession`; whichever comes first of response, error, limit and
/// cancellation ends it, once.
final class CallExchange: Sendable {
  typealias Outcome = Result<URLSessionCalls.Answer, any Error>

  private struct State {
    var waiter: CheckedContinuation<Outcome, Never>?
    var isOver = false
    var response: URLResponse?
    var data = Data()
    /// The answer that asked for credentials; it is the answer where no other comes.
    var refusal: URLResponse?
    /// What the answer says to send in its place, with the same body.
    var next: URLRequest?
    /// Whether a redirect led to another origin, at any step.
    var hasLeft = false
  }

  /// What is sent, for a redirect that says to send it again.
  let call: URLSessionCalls.Call
  /// How many bytes the body may have.
  private let limit: Int
  private let state = Mutex(State())

  init(_ call: URLSessionCalls.Call, limit: Int?) {
    self.call = call
    self.limit = limit ?? .max
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

  /// Takes bytes of the body, as they are after decompression; `false` if no more are wanted.
  func received(_ data: Data) -> Bool {
    let isTooLarge = state.withLock { state -> Bool? in
      guard !state.isOver else { return nil }
      guard data.count <= limit - state.data.count else { return true }
      state.data.append(data)
      return false
    }
    if isTooLarge == true {
      finish(.failure(SessionError.responseTooLarge(call: call.name, limit: limit)))
    }
    return isTooLarge == false
  }

  /// How many bytes of the body are held.
  var heldBytes: Int { state.withLock { $0.data.count } }

  /// What to send next in place of this.
  var next: URLRequest? { state.withLock { $0.next } }

  func redirected(to next: URLRequest) {
    state.withLock { $0.next = next }
  }

  /// Whether it was redirected to another origin.
  var hasLeft: Bool { state.withLock { $0.hasLeft } }

  func left() {
    state.withLock { $0.hasLeft = true }
  }

  func refused(_ response: URLResponse?) {
    state.withLock { $0.refusal = response }
  }

  /// Ends the call with what there is; `late` is an answer that was not announced.
  func complete(_ error: (any Error)?, late: URLResponse?) {
    let (response, refusal, data, hasLeft) = state.withLock {
      ($0.response, $0.refusal, $0.data, $0.hasLeft)
    }
    let found = CallExchange.outcome(response, refusal, data, error, late)
    finish(
      found.map {
        URLSessionCalls.Answer(data: $0.data, response: $0.response, hasLeft: hasLeft)
      })
  }

  private static func outcome(
    _ response: URLResponse?, _ refusal: URLResponse?, _ data: Data, _ error: (any Error)?,
    _ late: URLResponse?
  ) -> Result<(data: Data, response: URLResponse), any Error> {
    if let error {
      // On Linux a refused challenge ends the exchange as if somebody had cancelled it.
      let code = (error as? URLError)?.code
      let isRefused = code == .cancelled || code == .userAuthenticationRequired
      if let refusal, isRefused || response == nil {
        return .success((data, refusal))
      }
      return .failure(
        SessionError(connection: ConnectionFailure(error, hasAnswer: response != nil)))
    }
    // A redirect that says nowhere to comes without having been announced.
    guard let response = response ?? late else {
      return .failure(SessionError.noReply("what came is not HTTP"))
    }
    return .success((data, response))
  }
}
