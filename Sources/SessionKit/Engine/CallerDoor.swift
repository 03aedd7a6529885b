@_spi(Internals) import SessionCore
import Synchronization

/// Questions of callers that come while another caller is on the way to the engine.
///
/// ```
///          goesFirst: true            arrive: takes what was left
///  idle ────────────────────▶ coming ──────────────────────────────▶ idle
///                             ▲   │
///                             └───┘ leave
/// ```
///
/// The task of the first caller goes to the engine's thread. The others leave their questions, and wait.
/// So ten thousand callers change the thread a few times, and not each of them.
///
/// The system may let a task of a low priority wait before it leaves its own thread. So a caller whose
/// priority is higher than that of the task that is coming does not wait for it: it comes too.
///
/// - Requirement: REF-3
struct CallerDoor: ~Copyable, Sendable {
  /// What a caller leaves.
  enum Message: Sendable {
    case question(Caller, SessionInput, CheckedContinuation<CallerTable.Answer, Never>)
    /// The caller was cancelled after its question was left.
    case cancelled(Caller)
  }

  struct State {
    /// The highest priority of the tasks that are coming; `nil` if none is.
    var coming: TaskPriority?
    var left: [Message] = []
    var count: UInt64 = 0

    /// Returns whether a caller of this priority comes itself.
    mutating func comes(at priority: TaskPriority) -> Bool {
      if let coming, coming >= priority { return false }
      coming = priority
      return true
    }
  }

  private let state = Mutex(State())

  /// Returns whether the caller has to go to the engine and call ``arrive()``; otherwise another caller
  /// of at least its priority is on the way.
  @inline(never)
  func goesFirst(at priority: TaskPriority = Task.currentPriority) -> Bool {
    state.withLock { $0.comes(at: priority) }
  }

  /// Returns a caller for a question that is left.
  ///
  /// Its number is in the upper half: those of `CallerTable` begin at 1.
  @inline(never)
  func nextCaller() -> Caller {
    state.withLock { state in
      state.count += 1
      return Caller(1 << 63 | state.count)
    }
  }

  /// Leaves a question, unless the task is cancelled; returns whether the caller has to start a task that
  /// calls ``arrive()``.
  ///
  /// A cancelled task has reported its cancellation before its question was left. So it receives its
  /// answer here.
  @inline(never)
  func leave(
    _ caller: Caller, _ question: SessionInput,
    _ continuation: CheckedContinuation<CallerTable.Answer, Never>,
    at priority: TaskPriority = Task.currentPriority
  ) -> Bool {
    let isFirst: Bool? = state.withLock { state in
      if Task.isCancelled { return nil }
      state.left.append(.question(caller, question, continuation))
      return state.comes(at: priority)
    }
    if isFirst == nil { continuation.resume(returning: .failure(.cancelled)) }
    return isFirst ?? false
  }

  /// Leaves a cancellation if a task is coming that takes it; returns whether there is one.
  @inline(never)
  func leaveCancellation(of caller: Caller) -> Bool {
    state.withLock { state in
      guard state.coming != nil else { return false }
      state.left.append(.cancelled(caller))
      return true
    }
  }

  /// Takes what was left, in order.
  func arrive() -> [Message] {
    state.withLock { state in
      state.coming = nil
      defer { state.left = [] }
      return state.left
    }
  }
}

extension SessionEngine {
  /// Asks the coordinator for a token and waits for its reply, together with the callers that come at the
  /// same time.
  nonisolated func askTogether(
    _ question: @Sendable (Caller) -> SessionInput
  ) async throws(SessionError) -> Reply {
    if door.goesFirst() { return try await askFirst(question) }
    guard !Task.isCancelled else { throw .cancelled }
    let caller = door.nextCaller()
    let input = question(caller)
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if door.leave(caller, input, continuation) { spawn { $0.takeLeft() } }
      }
    } onCancel: {
      if !door.leaveCancellation(of: caller) { spawn { $0.feed(.cancelled(caller)) } }
    }
    return try answer.get()
  }

  private func askFirst(
    _ question: @Sendable (Caller) -> SessionInput
  ) async throws(SessionError) -> Reply {
    takeLeft()
    return try await ask(question)
  }

  /// Asks what callers have left at the door.
  private func takeLeft() {
    let left = door.arrive()
    guard !left.isEmpty else { return }
    for message in left {
      switch message {
      case .question(let caller, let input, let continuation):
        if let lost {
          continuation.resume(returning: .failure(lost))
        } else {
          callers.begin(caller, continuation)
          loop.inbox.append((input, nil))
        }
      case .cancelled(let caller): loop.inbox.append((.cancelled(caller), nil))
      }
    }
    run()
  }
}
