import Dispatch
import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization

/// The network of a scenario: each request waits until the file says what becomes of it.
///
/// Nothing goes on by itself: what the other side does is put into a box, and comes out when the
/// runner delivers it, on its own thread.
final class ScenarioNetwork: Sendable {
  /// How far a request has come.
  private enum Phase {
    /// Under way to the server, or to nobody.
    case travelling
    /// It is at the server, which waits for the file.
    case held
    /// Its answer is under way.
    case answered
  }

  private struct Parked {
    var phase = Phase.travelling
    let process: String
    let deadline: Int64
    let continuation: CheckedContinuation<Result<HTTPResponse, TransportError>, Never>
    /// Has whatever carries it give up.
    var stop: (@Sendable () -> Void)?
  }

  private struct State {
    var count = 0
    var parked: [Int: Parked] = [:]
    var arrived: [(number: Int, request: ReceivedRequest)] = []
    /// The requests whose sender gave up, or is dead: nobody has to answer them.
    var abandoned: Set<Int> = []
    var box: [Int: Result<HTTPResponse, TransportError>] = [:]
    var isOn = true
    var isOver = false
  }

  private let state = Mutex(State())
  private let news = DispatchSemaphore(value: 0)
  private let clock: ManualClock
  private let carry: Carrier

  /// Sends a request of that number on its way, and says how to have it give up: it then ends all the
  /// same.
  typealias Carrier =
    @Sendable (ScenarioNetwork, Int, HTTPRequest, _ isOn: Bool) -> (@Sendable () -> Void)

  /// - Parameters:
  ///   - clock: by which requests time out.
  ///   - carry: sends a request on its way.
  init(clock: ManualClock, carry: @escaping Carrier) {
    self.clock = clock
    self.carry = carry
  }

  /// What carries the requests of a process.
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

  /// Its sender gives up; what carries it ends soon.
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

  /// The process is dead, and its connections with it.
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

  /// Whether nobody has to answer a request, because its sender gave up.
  func isAbandoned(_ number: Int) -> Bool { state.withLock { $0.abandoned.contains(number) } }

  // MARK: The other side; any thread.

  /// The request is at the server.
  func arrive(_ number: Int, _ request: ReceivedRequest) {
    state.withLock { state in
      guard state.parked[number] != nil else { return }
      state.parked[number]?.phase = .held
      state.arrived.append((number, request))
    }
    news.signal()
  }

  /// The request has come to its end.
  func finish(_ number: Int, _ result: Result<HTTPResponse, TransportError>) {
    state.withLock { $0.box[number] = result }
    news.signal()
  }

  // MARK: The runner.

  var isOn: Bool {
    get { state.withLock { $0.isOn } }
    set { state.withLock { $0.isOn = newValue } }
  }

  /// What has come to the server so far, in its order.
  var arrived: [(number: Int, request: ReceivedRequest)] { state.withLock { $0.arrived } }

  /// Whether the sender of a request still waits for it.
  func isWaiting(_ number: Int) -> Bool { state.withLock { $0.parked[number] != nil } }

  /// The file has decided about a request.
  func markAnswered(_ number: Int) {
    state.withLock { $0.parked[number]?.phase = .answered }
  }

  /// When the next request times out.
  var nextDeadline: Int64? { state.withLock { $0.parked.values.map(\.deadline).min() } }

  /// Ends the requests whose time is over.
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

  /// Hands what has come to those who wait for it; `false` where nothing has.
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

  /// Whether something is between the session and the server.
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

  /// Waits, in real time, until something has come; `false` where nothing comes.
  func waitForNews() -> Bool {
    news.wait(timeout: .now() + .seconds(60)) == .success
  }

  /// Nobody waits any more, now or later.
  func stop() {
    let left = state.withLock { state in
      state.isOver = true
      defer { state.parked = [:] }
      return state.parked.sorted { $0.key < $1.key }.map(\.value)
    }
    for parked in left { parked.continuation.resume(returning: .failure(.cancelled)) }
  }
}

/// What carries the requests of one process.
private struct ProcessLine: HTTPTransport {
  let network: ScenarioNetwork
  let process: String

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    try await network.send(request, from: process)
  }
}
