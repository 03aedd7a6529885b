/// Every decision of a living session, as one value: inputs and the time go in, an ordered list of
/// effects comes out.
///
/// It has no clock, no I/O, no task, no randomness and no secret, so every interleaving of callers,
/// answers, timers, crashes and other processes is a sequence of inputs that can be written down.
///
/// ```
///  input ──▶ decide ──▶ [… commit] ──▶ shell appends ──▶ committed ──▶ fold, resume, publish
///               ▲                          │
///               └──── conflicted ◀─────────┘  others had appended: fold theirs, decide anew
/// ```
///
/// Inputs that come while a commit or a look at the journal is under way wait until it has ended.
package struct SessionCoordinator: Hashable, Sendable {
  /// The figures of the policy.
  package let policy: PolicyFigures
  /// What the journal says.
  package internal(set) var fold: SessionFold
  /// Whether the journal goes on from one that was set aside.
  let continuesAnother: Bool

  /// Whether the stored items have been seen, so that it is known whether anybody is signed in.
  var isRestored = false
  /// Whether a newer version wrote the items of the session that the journal has: nothing can be done
  /// with it but to sign in anew or to log out.
  ///
  /// - Requirement: RES-8
  var needsUpdate = false
  /// Why nothing is done any more: closed, or the journal holds what this version cannot follow.
  var stopped: CommandFailure?
  /// Why the last sign-in failed, until cleared.
  var lastProblem: CommandFailure?
  /// The request on the wire.
  var flight: TokenRequest?
  /// Who wants to act in another context, oldest first.
  var switches: [Caller] = []
  /// Who waits for a good token.
  var waiters: [Caller] = []
  /// Whether we wait for another process's request to end.
  var isWaitingForLease = false
  /// How long another process's open request may still be answered.
  var lease: PeerLease?
  /// Whether the next request is held back: the batch of the opening took another process's request for
  /// lost, and that process is not proven gone.
  ///
  /// - Requirement: REF-10
  var overtookAtOpening = false
  /// The ends of requests that no event tells, until they are journaled.
  var endings: [SessionNote] = []
  /// The requests on the wire whose place another process's token took, with their intents: what they are
  /// answered is journaled.
  ///
  /// - Requirement: RPL-6
  var overdue: [RequestNumber: UInt64] = [:]
  /// The request of another process that was taken for lost, and how long a refusal may be its doing.
  var overtaken: Lease?
  /// The newest stored token that cannot be announced, whatever is tried.
  var unannounceable = Generation.none
  /// The failure for which calls wait before the next attempt.
  var rest: Backoff?
  /// How many requests in a row may have ended their process, as far as this opening knows.
  var endedProcesses: UInt32 = 0
  /// Whether a refresh is put off until the user has shown who they are.
  var awaitsPresence = false
  /// What makes the next refresh start, where one should as soon as nothing is on the wire.
  var due: RefreshTrigger?
  /// The requests on the wire whose tokens are revoked if they come: logins that were given up, and
  /// requests of a session that has ended.
  var abandoned: Set<RequestNumber> = []
  /// When it was tried to sign in.
  ///
  /// - Requirement: LOG-2
  var signInTries = SignInTries()
  /// The logins by adoption: their tokens are still the app's old layer's, and are not given back.
  var adoptions: Set<RequestNumber> = []
  /// The requests that were open at a logout of this device only: nothing of their responses is revoked.
  ///
  /// - Requirement: OUT-7
  var unrevoked: Set<RequestNumber> = []
  /// Who waits to be told whether the stored items can be read.
  var unlockers: [Caller] = []
  /// Whether the server is still to be asked how the user stands, as soon as there is a good token.
  var owesProfile = false
  /// When any process used the session last, and up to when that is kept for others, on the clock that
  /// never jumps.
  package internal(set) var lastUse = Int64.min
  var keptUse = Int64.min
  /// When the session ends by the policy, on the clock that never jumps; `Int64.max` for never.
  ///
  /// - Requirement: POL-10
  var policyEnd = Int64.max
  /// The same by what the responses said.
  package internal(set) var statedEnd = Int64.max
  /// Whether the host wants to be told when its local data is to be cleared.
  var hostClears = false
  /// Whether a provider keeps an account that goes with each end of a session.
  var hasProvider = false
  /// What the codes of the backend mean, by the configuration.
  ///
  /// - Requirement: POL-8
  var errorCodes: [String: ErrorMeaning] = [:]
  /// How the session ended last, as far as this process saw it.
  ///
  /// - Requirement: LOG-13
  var lastEnd = EndCause()
  /// Who closes, once nothing is on the wire.
  var closers: [Caller] = []
  /// Whether the last batch is written without a read of the stored token, which has failed.
  var closesUnread = false
  /// The wipe that was asked for and has not ended.
  var wiping: SessionEffect.Wipe?
  /// The logouts on their way, oldest first: who signs in meanwhile may log out again.
  var pendingLogouts: [PendingLogout] = []
  /// The tokens of whose end the server is being told.
  var telling: Set<Generation> = []
  /// The tokens of whose end the server is to be told next, one after the other.
  var untold: [Generation] = []
  /// The tokens of whose end it was noted that the server could not be told, by this process.
  var untellable: Set<Generation> = []
  /// How often in a row the server could not be told of a logout, by this process.
  var revocationTries: UInt32 = 0
  /// What is noted of the opening, until it is.
  var openingNotes: [SessionNote] = []
  /// When the current token dies, on the clock that never jumps.
  package internal(set) var tokenDeadline: Int64 = .min
  /// The sequence of the request that was given up because its end could not be journaled.
  var givenUp: UInt64 = 0
  /// The skew to the server's clock that this process noted last, in milliseconds.
  ///
  /// - Requirement: REF-8
  var notedSkew: Int64 = 0
  /// What the refresh timer is set for.
  var refreshTrigger = RefreshTrigger.schedule
  /// The process that this coordinator decides for.
  var process: UInt32 = 0
  /// Which opening of the journal it decides for; `nil` if the shell has not said so.
  var identity: ProcessIdentity?

  /// What of the secret store's failures is still to be journaled.
  var storage = StorageWatch()
  /// What was not found and is looked for again.
  var doubt = AbsenceDoubt()

  /// The commit that was asked for and has not ended.
  var pending: PendingCommit?
  private var barrier: ReadBarrier?
  private var deferred = InputQueue()
  private var requests: UInt64 = 0

  /// A coordinator for the session whose journal folds to `fold`.
  ///
  /// `continuesAnother` says that the journal goes on from one that was set aside: that one may have had
  /// a session, whatever can be read of it.
  package init(
    policy: PolicyFigures, fold: SessionFold = SessionFold(), continuesAnother: Bool = false
  ) {
    self.policy = policy
    self.fold = fold
    self.continuesAnother = continuesAnother
  }

  /// The folded state.
  package var state: SessionState { fold.state }

  /// What the process is doing for the session now.
  ///
  /// - Requirement: STA-3
  package var activity: SessionActivity {
    guard isRestored || needsUpdate else { return .loading }
    switch flight?.purpose {
    case .login: return .authenticating
    case .refresh: return .refreshing
    case .switchContext: return .switching
    case nil: break
    }
    return needsUpdate || lastProblem != nil ? .failed : .idle
  }

  /// Why the last sign-in failed; `nil` unless the activity is `failed`.
  package var loginError: CommandFailure? {
    activity == .failed ? lastProblem ?? .newerItems : nil
  }

  /// How many callers wait for a good token.
  package var waiterCount: Int { waiters.count }

  /// Whether somebody is about to be signed in.
  package var isSigningIn: Bool { flight?.isLogin == true }

  /// Whether the request is the sign-in that is under way.
  package func isSignIn(_ number: RequestNumber) -> Bool {
    isSigningIn && flight?.number == number
  }

  /// Whether the current token's life is not over, at this uptime in milliseconds.
  package func isTokenGood(at uptime: Int64) -> Bool {
    state.kind == .authenticated && uptime < tokenDeadline
  }

  /// Whether the request's answer has come and waits to be journaled.
  package func isHolding(_ request: RequestNumber) -> Bool {
    flight?.number == request && flight?.unsettled != nil
  }

  /// Takes in what happened and says what to do next.
  package mutating func handle(_ input: SessionInput, at now: ClockReading) -> [SessionEffect] {
    guard barrier == nil || input.endsLook, pending == nil || input.endsCommit else {
      deferred.append(input)
      return []
    }
    var effects: [SessionEffect]
    if input.endsCommit {
      guard let ended = pending else { return [] }
      pending = nil
      effects = end(ended, by: input, at: now)
    } else {
      effects = decide(input, at: now)
    }
    effects += proceed(at: now)
    while pending == nil, barrier == nil, let next = deferred.takeFirst() {
      effects += decide(next, at: now) + proceed(at: now)
    }
    return effects
  }

  /// Starts what waits, once nothing is on the wire: the one place where anything waiting begins.
  ///
  /// It follows every input, so nobody who waits can be forgotten by the way a request ended.
  private mutating func proceed(at now: ClockReading) -> [SessionEffect] {
    let effects = begin(at: now)
    guard pending == nil, barrier == nil else { return effects }
    return effects + noteStorage(at: now)
  }

  private mutating func begin(at now: ClockReading) -> [SessionEffect] {
    guard pending == nil, barrier == nil, stopped == nil else { return [] }
    if !endings.isEmpty { return noteEndings(at: now) }
    if let closer = closers.first, flight == nil || flight?.isLogin == true || isStuck {
      return finish(for: closer, at: now)
    }
    guard closers.isEmpty, flight == nil, isRestored, !isWaitingForLease,
      state.kind == .authenticated, due != nil || !waiters.isEmpty || !switches.isEmpty
    else { return askProfileIfOwed(at: now) }
    if let other = runningElsewhere(at: now) { return waitForLease(of: other, at: now) }
    guard due != nil || !waiters.isEmpty || !isTokenGood(at: now.uptime) else {
      return startSwitch(at: now)
    }
    let effects = startRefresh(due ?? .command, at: now)
    return pending == nil && state.kind == .authenticated ? effects + startSwitch(at: now) : effects
  }

  /// Whether an answer is here that cannot be journaled yet.
  private var isStuck: Bool { flight?.unsettled != nil }

  private mutating func decide(_ input: SessionInput, at now: ClockReading) -> [SessionEffect] {
    needsFreshView(input) ? readBarrier(for: input, at: now) : follow(input, at: now)
  }

  private mutating func follow(_ input: SessionInput, at now: ClockReading) -> [SessionEffect] {
    switch input {
    case .opened(let facts): open(facts, at: now)
    case .secretsRead(let facts): restore(facts, at: now)
    case .login(let caller, let method): login(caller, method, at: now)
    case .refresh(let caller, let trigger, let need): refresh(caller, trigger, need, at: now)
    case .switchContext(let caller): switchContext(caller, at: now)
    case .logout(let caller, let scope): logout(caller, scope, at: now)
    case .unlock(let caller): unlock(caller)
    case .foreground(let caller): enterForeground(caller, at: now)
    case .used(let uptime): used(at: uptime, now)
    case .useRead(let last): useRead(last, at: now)
    case .accountCreated(let number): accountCreated(number)
    case .notSignedIn(let number, let problem): notSignedIn(number, problem)
    case .profileRead(let user, let failure): profileRead(user, failure, at: now)
    case .cleared: cleared(at: now)
    case .stored(let reports): stored(reports, at: now)
    case .cancelled(let caller): cancel(caller)
    case .clearError: clearError()
    case .close(let caller): close(caller, at: now)
    case .answered(let number, let facts): answered(number, facts, at: now)
    case .failed(let number, let failure, let jitter):
      failed(number, failure, jitter: jitter, at: now)
    case .revoked(let generation, let outcome, let status):
      revoked(generation, outcome, status: status, at: now)
    case .wiped(let ending): wiped(ending, at: now)
    case .observed(let records, let isHolderGone):
      looked(at: records, isHolderGone: isHolderGone, now)
    case .unobserved: notLooked(at: now)
    case .leaving(let number): leaving(number)
    case .reloaded(let generation, let outcome): reloaded(generation, outcome, at: now)
    case .fired(let timer): fired(timer, at: now)
    case .committed, .conflicted, .commitFailed, .superseded, .presenceNeeded: []
    }
  }

  // MARK: Looking

  /// Whether the answer would be that nobody is signed in, or somebody already, by a view that others
  /// may have outdated.
  private func needsFreshView(_ input: SessionInput) -> Bool {
    guard stopped == nil else { return false }
    return switch input {
    case .logout: state.kind == .unauthenticated
    case .refresh, .switchContext: isRestored && state.kind != .authenticated
    case .login(_, .registration): isRestored && state.kind != .unauthenticated
    case .login: isRestored && state.kind == .authenticated
    case .foreground: isRestored
    default: false
    }
  }

  /// Whether somebody's question waits for a look at the journal.
  package var isLookingForCaller: Bool { barrier?.question != nil }

  /// Asks for a look at what others have appended; as with a commit, nothing else is decided before.
  mutating func readBarrier(for question: SessionInput?, at now: ClockReading) -> [SessionEffect] {
    barrier = ReadBarrier(question: question, asked: now.uptime)
    return [.readJournal]
  }

  private mutating func looked(
    at records: [SessionRecord], isHolderGone: Bool, _ now: ClockReading
  ) -> [SessionEffect] {
    let ended = barrier
    barrier = nil
    let effects = observed(records, isHolderGone: isHolderGone, at: now)
    let released = ended.map { release(after: $0, at: now) } ?? []
    return effects + released + (ended?.question.map { follow($0, at: now) } ?? [])
  }

  /// Nothing is known of what others did: who asked is not told who is signed in.
  private mutating func notLooked(at now: ClockReading) -> [SessionEffect] {
    let question = barrier?.question
    barrier = nil
    // What others did is not known: a request that has not left is not sent.
    var grounded: [SessionEffect] = []
    if flight?.isUnsent == true {
      noteUnsentFlight()
      grounded = sendingFailed(at: now)
    }
    let effects = grounded + observed([], isHolderGone: false, at: now)
    // Coming to the foreground asks nothing that only the journal could answer.
    if case .foreground(let caller)? = question {
      return effects + enterForeground(caller, at: now)
    }
    return effects + (question?.caller.map { [.resume($0, .failed(.storage))] } ?? [])
  }

  // MARK: Small tools

  mutating func nextRequest() -> RequestNumber {
    requests += 1
    return RequestNumber(requests)
  }

  func publish(_ events: [RecordedEvent]) -> [SessionEffect] {
    events.isEmpty ? [] : [.publish(events)]
  }

  /// Lets everybody go on who waits for a token or a context.
  mutating func resumeAll(_ reply: SessionEffect.Reply) -> [SessionEffect] {
    defer { (switches, waiters, due) = ([], [], nil) }
    return resume(switches + waiters, reply)
  }

  func resume(_ callers: [Caller], _ reply: SessionEffect.Reply) -> [SessionEffect] {
    callers.map { .resume($0, reply) }
  }

  func rejection(_ event: SessionEvent.Kind, _ reason: SessionRejection.Reason) -> CommandFailure {
    .rejected(SessionRejection(state: state.kind, event: event, reason: reason))
  }

  /// Why a command that needs a signed-in user is not possible now.
  func notAuthenticated(_ event: SessionEvent.Kind) -> CommandFailure {
    if let stopped { return stopped }
    if !isRestored { return needsUpdate ? .newerItems : .locked }
    return rejection(event, state.kind == .expired ? .expired : .notAuthenticated)
  }

  private mutating func clearError() -> [SessionEffect] {
    lastProblem = nil
    return []
  }

  private mutating func fired(_ timer: SessionTimer, at now: ClockReading) -> [SessionEffect] {
    switch timer {
    case .refresh: refreshIsDue()
    case .expiry: expiryIsDue(at: now)
    case .lease:
      isWaitingForLease || flight?.isHeldBack == true ? readBarrier(for: nil, at: now) : []
    case .restore: isRestored ? presenceMayBeShown() : [.readSecrets]
    case .commit: settleAgain(at: now)
    case .wipe: wipeAgain()
    case .revocation: tellAgain()
    case .inactivity: inactivityIsDue(at: now)
    case .lifetime: lifetimeIsDue(at: now)
    }
  }
}
