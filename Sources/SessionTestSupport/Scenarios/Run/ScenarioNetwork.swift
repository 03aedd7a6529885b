import Dispatch
import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization

/// The network of a scenario: each request waits until the file decides its outcome.
///
/// Results of the server's side are put into a box. They take effect when the runner delivers them,
/// on its own thread.
final class ScenarioNetwork: Sendable {
  /// The progress of a request.
  private enum Phase {
    /// It is on the way to the server, or to a port that refuses it.
    case travelling
    /// The server has it, and waits for the file.
    case held
    /// Its answer is on the way.
    case answered
  }

  private struct Parked {
    var phase = Phase.travelling
    let process: String
    let deadline: Int64
    let continuation: CheckedContinuation<Result<HTTPResponse, TransportError>, Never>
    /// Cancels the transport of the request.
    var stop: (@Sendable () -> Void)?
  }

  private struct State {
    var count = 0
    var parked: [Int: Parked] = [:]
    var arrived: [(number: Int, request: ReceivedRequest)] = []
    /// The requests whose sender was cancelled or killed; they need no answer.
    var abandoned: Set<Int> = []
    var box: [Int: Result<HTTPResponse, TransportError>] = [:]
    var isOn = true
    var isOver = false
  }

  private let state = Mutex(State())
  private let news = DispatchSemaphore(value: 0)
  private let clock: ManualClock
  private let carry: Carrier

  /// Sends the request with a number, and returns a function that cancels it.
  ///
  /// A cancelled request still finishes.
  typealias Carrier =
    @Sendable (ScenarioNetwork, Int, HTTPRequest, _ isOn: Bool) -> (@Sendable () -> Void)

  ///   - clock: The clock for timeouts.
  ///   - carry: Sends a request.
  init(clock: ManualClock, carry: @escaping Carrier) {
    self.clock = clock
    self.carry = carry
  }

  /// Returns the transport for the requests of a process.
  func line(of process: String) -> some HTTPTransport {
    ProcessLine(network: self, process: process)
  }

  fileprivate func send(
    _ request: HTTPRequest, from process: String
  ) async throws(TransportError) -> HTTPResponse {
    let deadline = clock.now().uptime.addingSaturating(request.timeout.wholeMilliseconds)
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOn = state.withLock { state -> Bool? in
          guard !state.isOver, !state.abandoned.contains(number) else { return nil }
          state.parked[number] = Parked(
            process: process, deadline: deadline, continuation: continuation)
          return state.isOn
        }
        guard let isOn else { return continuation.resume(returning: .failure(.cancelled)) }
        let stop = carry(self, number, request, isOn)
        state.withLock { $0.parked[number]?.stop = stop }
      }
    } onCancel: {
      cancel(number)
    }
    return try result.get()
  }

  /// Cancels a request, since its sender was cancelled; its transport ends soon.
  private func cancel(_ number: Int) {
    let stop = state.withLock { state in
      state.abandoned.insert(number)
      guard var parked = state.parked[number], parked.phase != .answered else {
        return nil as (@Sendable () -> Void)?
      }
      parked.phase = .answered
      state.parked[number] = parked
      return parked.stop
    }
    stop?()
  }

  /// Ends the requests of a killed process.
  func abandon(_ process: String) {
    let left = state.withLock { state in
      let numbers = state.parked.filter { $0.value.process == process }.keys.sorted()
      state.abandoned.formUnion(numbers)
      return numbers.compactMap { state.parked.removeValue(forKey: $0) }
    }
    for parked in left {
      parked.stop?()
      parked.continuation.resume(returning: .failure(.cancelled))
    }
  }

  /// Returns whether a request needs no answer, because its sender was cancelled or killed.
  func isAbandoned(_ number: Int) -> Bool { state.withLock { $0.abandoned.contains(number) } }

  // MARK: The server's side; any thread.

  /// Records that a request has arrived at the server.
  func arrive(_ number: Int, _ request: ReceivedRequest) {
    state.withLock { state in
      guard state.parked[number] != nil else { return }
      state.parked[number]?.phase = .held
      state.arrived.append((number, request))
    }
    news.signal()
  }

  /// Puts the result of a request into the box.
  func finish(_ number: Int, _ result: Result<HTTPResponse, TransportError>) {
    state.withLock { $0.box[number] = result }
    news.signal()
  }

  // MARK: The runner.

  var isOn: Bool {
    get { state.withLock { $0.isOn } }
    set { state.withLock { $0.isOn = newValue } }
  }

  /// The requests that have arrived at the server, in order.
  var arrived: [(number: Int, request: ReceivedRequest)] { state.withLock { $0.arrived } }

  /// Returns whether the sender of a request still waits for it.
  func isWaiting(_ number: Int) -> Bool { state.withLock { $0.parked[number] != nil } }

  /// Records that the file has decided the outcome of a request.
  func markAnswered(_ number: Int) {
    state.withLock { $0.parked[number]?.phase = .answered }
  }

  /// The uptime at which the next request times out.
  var nextDeadline: Int64? { state.withLock { $0.parked.values.map(\.deadline).min() } }

  /// Ends the requests that have timed out.
  func expire() {
    let now = clock.now().uptime
    let overdue = state.withLock { state in
      let numbers = state.parked.filter { $0.value.deadline <= now }.keys.sorted()
      return numbers.compactMap { state.parked.removeValue(forKey: $0) }
    }
    for parked in overdue {
      parked.continuation.resume(returning: .failure(.noReply("no answer in time")))
    }
  }

  /// Delivers the results in the box to their senders; returns `false` if there were none.
  func deliver() -> Bool {
    let ready = state.withLock { state in
      let numbers = state.box.keys.sorted()
      return numbers.compactMap { number -> (Parked, Result<HTTPResponse, TransportError>)? in
        guard let result = state.box.removeValue(forKey: number),
          let parked = state.parked.removeValue(forKey: number)
        else { return nil }
        return (parked, result)
      }
    }
    for (parked, result) in ready { parked.continuation.resume(returning: result) }
    return !ready.isEmpty
  }

  /// Whether a request or an answer is on the way.
  var isMoving: Bool {
    state.withLock { state in
      !state.box.isEmpty
        || state.parked.values.contains { parked in
          switch parked.phase {
          case .held: false
          case .travelling, .answered: true
          }
        }
    }
  }

  /// Waits, in real time, for an arrival or a result; returns `false` if there is none in 60
  /// seconds.
  func waitForNews() -> Bool {
    news.wait(timeout: .now() + .seconds(60)) == .success
  }

  /// Cancels all requests, current and later ones.
  func stop() {
    let left = state.withLock { state in
      state.isOver = true
      defer { state.parked = [:] }
      return state.parked.sorted { $0.key < $1.key }.map(\.value)
    }
    for parked in left { parked.continuation.resume(returning: .failure(.cancelled)) }
  }
}

/// The transport for the requests of one process.
private struct ProcessLine: HTTPTransport {
  let network: ScenarioNetwork
  let process: String

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    try await network.send(request, from: process)
  }
}
