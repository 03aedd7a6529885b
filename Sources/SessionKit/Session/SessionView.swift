import SessionCore
import Synchronization

/// What a session shows to any thread, without waiting for the session's own.
///
/// Swapped whole under a lock after each decision, so that state, token and user always belong
/// together.
///
/// - Requirement: STA-4
struct SessionView: ~Copyable, Sendable {
  struct Snapshot: Sendable {
    var state = SessionState.unauthenticated
    var activity = SessionActivity.loading
    /// Why the last sign-in failed, if the activity is `failed`.
    var loginError: SessionError?
    /// Why the session has ended, if it has.
    var end = EndCause()
    var token: AccessToken?
    var user: UserProfile?
    /// When the token dies, on the clock that never jumps.
    var deadline = Int64.min
    /// How many callers wait for a good token.
    var waiterCount = 0
    /// Why the last records or items could not be written.
    var storageProblem: SessionError?
    /// Why the journal could not be compacted when it should have been.
    var compactionProblem: SessionError?
    /// Why a session ended last.
    var lastEnd: SessionEnd?
  }

  private let snapshot = Mutex(Snapshot())
  private let held = Mutex(CallPass())
  private let refusals = Mutex(RefusalHistory())
  /// When the session was used last.
  let use: ActivityMeter

  init(_ policy: PolicyFigures) {
    use = ActivityMeter(policy)
  }

  // Never inlined: async functions look at it before and after an `await`, and a lock knows its thread.

  var current: Snapshot {
    @inline(never) get { snapshot.withLock { $0 } }
  }

  /// The token alone: asked for with every request, and a copy of all the rest costs more than that.
  var token: AccessToken? {
    @inline(never) get { snapshot.withLock { $0.token } }
  }

  /// What a protected call asks for.
  var pass: CallPass {
    @inline(never) get { held.withLock { $0 } }
  }

  /// What refused calls have caused, changed by one of them.
  @inline(never)
  func withRefusals<Value>(_ change: (inout RefusalHistory) -> Value) -> Value {
    refusals.withLock { change(&$0) }
  }

  func swap(_ next: Snapshot) {
    let pass = pass
    if !pass.shows(next) { held.withLock { $0 = CallPass(next) } }
    snapshot.withLock { $0 = next }
  }
}
