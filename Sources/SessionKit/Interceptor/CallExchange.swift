#if URLSession
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request of a call on a shared `URLSession`.
///
/// The first of response, error, limit and cancellation ends it. Later ones have no effect.
final class CallExchange: Sendable {
  typealias Outcome = Result<(data: Data, response: URLResponse), any Error>

  private struct State {
    var waiter: CheckedContinuation<Outcome, Never>?
    var isOver = false
    var response: URLResponse?
    var data = Data()
    /// The response that asked for credentials.
    ///
    /// It is used if there is no other response.
    var refusal: URLResponse?
  }

  private let call: URLSessionCalls.Call
  /// The maximum size of the body, in bytes.
  private let limit: Int
  private let state = Mutex(State())

  init(_ call: URLSessionCalls.Call, limit: Int?) {
    self.call = call
    self.limit = limit ?? .max
  }

  /// Stores the waiting caller.
  ///
  /// Returns `false` if the call is already over.
  func wait(_ waiter: CheckedContinuation<Outcome, Never>) -> Bool {
    state.withLock { state in
      if !state.isOver { state.waiter = waiter }
      return !state.isOver
    }
  }

  /// Ends the call.
  ///
  /// Further calls of this function do nothing.
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

  /// Appends bytes of the body after decompression.
  ///
  /// Returns `false` if no more bytes are needed.
  func received(_ data: Data) -> Bool {
    // 3.4 MB of gzip became 512 MiB in memory. `Content-Length` is the compressed size on Linux,
    // and is missing with chunks, so only what arrives is counted. The library never holds more
    // than the limit. The process may hold a multiple of it, since `URLSession` has no back
    // pressure there: 86 MB with a limit of 1 MiB, and 590 MB with 64 MiB. Back pressure would need
    // a queue that blocks, or another HTTP client.
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

  /// The number of bytes of the body that are in memory.
  var heldBytes: Int { state.withLock { $0.data.count } }

  func refused(_ response: URLResponse?) {
    state.withLock { $0.refusal = response }
  }

  /// Ends the call with the data so far.
  ///
  /// `late` is a response that the delegate did not receive before.
  func complete(_ error: (any Error)?, late: URLResponse?) {
    let (response, refusal, data) = state.withLock { ($0.response, $0.refusal, $0.data) }
    finish(CallExchange.outcome(response, refusal, data, error, late))
  }

  private static func outcome(
    _ response: URLResponse?, _ refusal: URLResponse?, _ data: Data, _ error: (any Error)?,
    _ late: URLResponse?
  ) -> Outcome {
    if let error {
      // On Linux a refused challenge ends the exchange with the error of a cancellation.
      let code = (error as? URLError)?.code
      let isRefused = code == .cancelled || code == .userAuthenticationRequired
      if let refusal, isRefused || response == nil {
        return .success((data, refusal))
      }
      return .failure(
        SessionError(connection: ConnectionFailure(error, hasAnswer: response != nil)))
    }
    // On Linux a redirect without a target arrives without a call of the delegate.
    guard let response = response ?? late else {
      return .failure(SessionError.noReply("the response is not HTTP"))
    }
    return .success((data, response))
  }
}
#endif
