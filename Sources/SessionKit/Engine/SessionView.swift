import SessionCore
import Synchronization

/// The values that a session shows to any thread, without waiting for the engine's thread.
///
/// The whole snapshot is replaced under a lock after each decision, so that state, token and user
/// are always consistent.
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
    /// The uptime at which the token expires, on the monotonic clock.
    var deadline = Int64.min
    /// The number of callers that wait for a valid token.
    var waiterCount = 0
    /// Why the last records or items could not be written.
    var storageProblem: SessionError?
    /// Why the last compaction that was due failed.
    var compactionProblem: SessionError?
    /// Why a session ended last.
    var lastEnd: SessionEnd?
  }

  private let snapshot = Mutex(Snapshot())
  private let held = Mutex(CallPass())
  private let refusals = Mutex(RefusalHistory())
  /// The time of the session's last use.
  let use: ActivityMeter

  init(_ policy: PolicyFigures) {
    use = ActivityMeter(policy)
  }

  // Never inlined: async functions call it before and after an `await`, and a lock belongs to its
  // thread.

  var current: Snapshot {
    @inline(never) get { snapshot.withLock { $0 } }
  }

  /// The token alone.
  ///
  /// Every request reads it, and a copy of the whole snapshot would cost more.
  var token: AccessToken? {
    @inline(never) get { snapshot.withLock { $0.token } }
  }

  /// The values that a protected call needs.
  var pass: CallPass {
    @inline(never) get { held.withLock { $0 } }
  }

  /// Reads and changes the history of what refused calls have caused.
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
