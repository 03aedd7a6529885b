import SessionCore
import SessionKit

/// The state that the test's tasks and the server's thread share: one lock, and one wakeup for the
/// thread.
///
/// The test's clock and the waiting tasks are called outside the lock.
final class LoopbackMailbox: Sendable {
  private let state: WaitableState<LoopbackServerState>
  private let bell: Wakeup
  private let clock: @Sendable () -> Int64

  init(
    backend: LoopbackBackend, service: (any LoopbackService)? = nil, bell: Wakeup,
    clock: @escaping @Sendable () -> Int64
  ) {
    state = WaitableState(LoopbackServerState(backend: backend, service: service))
    self.bell = bell
    self.clock = clock
  }

  /// Changes the state, then lets the waiting tasks look at it; every change goes through here.
  @discardableResult
  func change<Result: Sendable>(_ body: (inout LoopbackServerState) -> Result) -> Result {
    let result = state.withLock(body)
    state.resumeWaiters()
    return result
  }

  /// Changes the state in a way that may let held requests pass.
  private func changeAndRing(_ body: (inout LoopbackServerState) -> Void) {
    change(body)
    bell.ring()
  }

  func read<Result: Sendable>(_ body: (LoopbackServerState) -> Result) -> Result {
    state.withLock { body($0) }
  }
}

// The server's thread.
extension LoopbackMailbox {
  var isStopped: Bool { read(\.isStopped) }

  func receive(_ request: ReceivedRequest, connection: Int) -> CallJob {
    let time = clock()
    return change { $0.receive(request, connection: connection, now: $0.skewed(time)) }
  }

  /// Records bytes that were not a request; returns the answer.
  func receiveUnreadable(_ rejection: HTTPRejection, connection: Int) -> [UInt8] {
    let time = clock()
    let now = change { state in
      let now = state.skewed(time)
      state.receiveUnreadable(rejection, connection: connection, now: now)
      return now
    }
    let answer = BackendAnswer.failure(rejection.status, "BAD_HTTP", rejection.reason)
    return answer.response.dated(now).bytes(answering: "", closing: true)
  }

  func advance(_ job: inout CallJob, at instant: Int64) -> CallStep {
    let time = clock()
    return change { $0.advance(&job, at: instant, now: $0.skewed(time)) }
  }
}

// The test's tasks.
extension LoopbackMailbox {
  func stop() {
    changeAndRing { $0.stop() }
  }

  /// Makes the server's thread look at all waiting requests again.
  func ring() {
    bell.ring()
  }

  func openGate(_ id: Int) {
    changeAndRing { $0.gates.open(id) }
  }

  func admit(_ count: Int, atGate id: Int) {
    changeAndRing { $0.gates.admit(count, at: id) }
  }

  func admitNewest(atGate id: Int) {
    changeAndRing { $0.gates.admitNewest(at: id) }
  }

  func waiting(atGate id: Int) -> Int {
    read { $0.gates.waiting(at: id) }
  }

  /// Waits until a milestone is reached `count` times.
  ///
  /// Returns `false` if the server stopped or the task was cancelled before.
  func wait(for milestone: LoopbackServerState.Milestone, count: Int) async -> Bool {
    let isReached = await state.wait { state -> Bool? in
      if state.count(milestone) >= count { return true }
      return state.isStopped ? false : nil
    }
    return isReached ?? false
  }
}

extension LoopbackServerState {
  fileprivate func skewed(_ time: Int64) -> Int64 {
    time.addingSaturating(settings.clockSkew.milliseconds)
  }
}

/// A request that the server is processing; its connection owns it.
struct CallJob: Sendable {
  enum Stage: Sendable {
    case arrived
    /// The fault is chosen; the server acts at this time of the monotonic clock, in milliseconds.
    case delayed(until: Int64)
    case acted(CallResult)
  }

  let number: Int
  let endpoint: LoopbackEndpoint
  let request: ReceivedRequest
  var stage = Stage.arrived
  var fault: LoopbackFault?
}

/// The next step of a connection for a job.
enum CallStep: Sendable {
  /// Try again after a wakeup, or at this time of the monotonic clock in milliseconds.
  case wait(until: Int64?)
  /// Send these bytes, then treat the connection as `then` says.
  case finish([UInt8], then: Ending)
}

/// The treatment of a connection after an answer.
enum Ending: Sendable {
  case goOn
  /// Closes it in order: announces the end, and gives the client time to read.
  case close
  /// Closes it at once, with a reset.
  case reset
}

/// The result of a call, before it becomes bytes.
enum CallResult: Sendable {
  case answer(SentResponse, code: String?, LoopbackCall.Violation?)
  case cut(SentResponse, afterBytes: Int)
  case drop
}

/// A service that answers instead of the EDU backend of a loopback server.
///
/// It is called on the server's thread and under the server's lock. It must not block, and must not
/// call the server.
package protocol LoopbackService: Sendable {
  /// Receives a complete request; `number` counts requests from 1.
  func receive(_ request: ReceivedRequest, number: Int)
  /// Returns the fate of a request; `nil` while it is undecided.
  ///
  /// The server asks again after ``LoopbackServer/ring()``.
  func fate(ofRequest number: Int) -> LoopbackFate?
}

/// The fate of a request at a ``LoopbackService``.
package enum LoopbackFate: Sendable {
  /// The request is answered.
  case answer(SentResponse)
  /// The request was received, and the connection breaks (``LoopbackFault/dropConnection(_:)``).
  case lost
}
