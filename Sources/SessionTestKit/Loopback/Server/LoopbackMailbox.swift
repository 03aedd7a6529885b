import Synchronization

/// The state that the test's tasks and the server's thread share: one lock, and one wakeup for the
/// thread.
///
/// The test's clock and the waiting tasks are called outside the lock.
final class LoopbackMailbox: Sendable {
  private let state: Mutex<LoopbackServerState>
  private let bell: Wakeup
  private let clock: @Sendable () -> Int64

  init(
    backend: LoopbackBackend, service: (any LoopbackService)? = nil, bell: Wakeup,
    clock: @escaping @Sendable () -> Int64
  ) {
    state = Mutex(LoopbackServerState(backend: backend, service: service))
    self.bell = bell
    self.clock = clock
  }

  /// Changes the state, then resumes the tasks whose wait is over; every change goes through here.
  @discardableResult
  func change<Result: Sendable>(_ body: (inout LoopbackServerState) -> Result) -> Result {
    let (result, resumptions) = state.withLock { state in
      let result = body(&state)
      return (result, state.takeResumptions())
    }
    for resumption in resumptions {
      resumption.continuation.resume(returning: resumption.reached)
    }
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
    let id = change { $0.nextWaiter() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        change { $0.wait(id, for: milestone, count: count, continuation) }
      }
    } onCancel: {
      change { $0.giveUp(id) }
    }
  }
}

extension LoopbackServerState {
  fileprivate func skewed(_ time: Int64) -> Int64 {
    time.adding(settings.clockSkew.milliseconds)
  }
}
