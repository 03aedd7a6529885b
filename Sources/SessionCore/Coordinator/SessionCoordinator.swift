/// The decisions of an open session, as a value: inputs and the time go in, ordered effects come out.
///
/// It has no clock, no I/O, no task, no randomness and no secret. So every interleaving of callers,
/// responses, timers, crashes and other processes is a sequence of inputs that a test can write
/// down.
///
/// ```
///  input ──▶ decide ──▶ [… commit] ──▶ shell appends ──▶ committed ──▶ fold, resume, publish
///               ▲                          │
///               └──── conflicted ◀─────────┘  others had appended: fold theirs, decide again
/// ```
///
/// Inputs that arrive during a commit or a read of the journal wait until it has ended.
///
/// It is composed of machines. Each has its own file with its states. None calls another one, except that
/// `PendingNotes` owns `StorageWatch`, and `PeerRequests` owns `PeerLease`. The extensions of this type pass
/// them the time and facts of the journal's fold. ``handle(_:at:)`` and `proceed` join their effects.
///
/// | question | machine |
/// | --- | --- |
/// | Which input is decided now? | `InputSequencer` |
/// | Who waits for a reply? | `WaitingCallers` |
/// | How far is the one token request? | `TokenRequest` |
/// | Does the signed-in user log in again? | `Reauthentication` |
/// | What happens to a late response? | `LateResponses` |
/// | How long is another process waited for? | `PeerRequests`, `PeerLease` |
/// | When is the token refreshed? | `TokenSchedule` |
/// | Does this end the session? | `SessionEnding` |
/// | Was it unused or logged in for too long? | `Inactivity`, `SessionLifetime` |
/// | What of a logout is still to be done? | `PendingLogouts`, `Revocations` |
/// | What goes with the next batch? | `PendingNotes`, `StorageWatch` |
/// | Is a missing item gone? | `AbsenceDoubt` |
/// | May a user try to sign in now? | `SignInTries` |
/// | Must the user unlock the app first? | `AppLock` |
package struct SessionCoordinator: Hashable, Sendable {
  /// The values of the policy.
  package let policy: PolicyFigures
  /// The fold of the journal.
  package internal(set) var fold: SessionFold
  /// Whether the journal continues one that was quarantined.
  let continuesAnother: Bool

  // MARK: The machines

  /// Which input is decided now, and which inputs wait.
  var sequencer = InputSequencer()
  /// The callers whose commands wait.
  var callers = WaitingCallers()
  /// The token request under way.
  var request: TokenRequest?
  /// The login of the user who is signed in.
  var reauthentication = Reauthentication()
  /// What happens to the responses of earlier requests.
  var late = LateResponses()
  /// The open request of another process.
  var peers = PeerRequests()
  /// How long the current token is good, and when it is refreshed.
  var schedule = TokenSchedule()
  /// How long the session is unused.
  var inactivity: Inactivity
  /// When the session ends although it is used.
  var lifetime: SessionLifetime
  /// The logouts and other ends that are in the journal, while the rest is done.
  var logouts = PendingLogouts()
  /// The revocations that this process sends.
  var revocations = Revocations()
  /// The notes that wait for a batch.
  var notes = PendingNotes()
  /// The item that was not found and is searched for again.
  var doubt = AbsenceDoubt()
  /// The times of login attempts.
  ///
  /// - Requirement: LOG-2
  var signInTries = SignInTries()
  /// Whether callers wait for the user to unlock the app.
  ///
  /// - Requirement: ACC-2
  var appLock: AppLock

  // MARK: Facts

  /// The facts of this opening.
  var opening = Opening()
  /// What is known of the stored items.
  var items = ItemsView.unread
  /// Why no command is possible any more: closed, or the journal holds a record that is unknown
  /// here.
  var stopped: CommandFailure?
  /// Why the last login failed, until the app clears it.
  var lastProblem: CommandFailure?
  /// Why the session last ended, as far as this process knows.
  ///
  /// - Requirement: LOG-13
  var lastEnd = EndCause()
  /// Whether the user's profile is to be requested, as soon as there is a valid token.
  var owesProfile = false
  /// The newest stored token that no event can announce.
  var unannounceable = Generation.none
  /// Whether the items of another journal stay, because that journal may come back.
  ///
  /// - Requirement: RES-7
  var sparesOthers = false
  /// The journal that continues this one, if that is noted.
  var namedSuccessor: Identifier?
  /// Whether the last batch is written without reading the stored token, because reading it failed.
  var closesUnread = false
  private var requests: UInt64 = 0

  /// The number of callers that wait for a valid token.
  ///
  /// It is stored, since the engine reads it after each input: to compute it would copy all machines.
  package private(set) var waiterCount = 0

  /// Creates a coordinator for the session whose journal folds to `fold`.
  ///
  /// `continuesAnother` says that the journal continues one that was quarantined. That one may have
  /// had a session, even if it cannot be read.
  package init(
    policy: PolicyFigures, fold: SessionFold = SessionFold(), continuesAnother: Bool = false
  ) {
    self.policy = policy
    self.fold = fold
    self.continuesAnother = continuesAnother
    (inactivity, lifetime) = (Inactivity(policy), SessionLifetime(policy))
    appLock = AppLock(fold.intents.lock)
  }

  /// Whether it is known whether a user is logged in.
  var isRestored: Bool { items == .current }

  /// Whether only a new login or a logout is possible.
  ///
  /// - Requirement: RES-8
  var needsUpdate: Bool { items == .ofNewerVersion }

  /// The state of the session.
  package var state: SessionState { fold.state }

  /// The current activity of this process for the session.
  ///
  /// - Requirement: STA-3
  package var activity: SessionActivity {
    guard isRestored || needsUpdate else { return .loading }
    switch request?.purpose {
    case .login, .reauthenticate: return .authenticating
    case .refresh: return .refreshing
    case .switchContext: return .switching
    case nil: break
    }
    if reauthentication.isUnderWay { return .authenticating }
    return needsUpdate || lastProblem != nil ? .failed : .idle
  }

  /// Why the last login failed; `nil` unless the activity is `failed`.
  package var loginError: CommandFailure? {
    activity == .failed ? lastProblem ?? .newerItems : nil
  }

  /// When the current token expires, on the clock that never jumps.
  package var tokenDeadline: Int64 { schedule.deadline }

  /// When any process last used the session, on the clock that never jumps.
  package var lastUse: Int64 { inactivity.lastUse }

  /// Whether a login is under way.
  package var isSigningIn: Bool { request?.isLogin == true }

  /// Whether the request is the login that is under way.
  package func isSignIn(_ number: RequestNumber) -> Bool {
    isSigningIn && request?.number == number
  }

  /// Whether the current token has not expired, at this uptime in milliseconds.
  package func isTokenGood(at uptime: Int64) -> Bool {
    fold.kind == .authenticated && schedule.isGood(at: uptime)
  }

  /// Whether the request's response has arrived and waits to be journaled.
  package func isHolding(_ request: RequestNumber) -> Bool {
    self.request?.number == request && self.request?.unjournaled != nil
      || reauthentication.held?.number == request
  }

  /// Handles an input; returns what to do next.
  package mutating func handle(_ input: SessionInput, at now: ClockReading) -> [SessionEffect] {
    defer { waiterCount = callers.count(.token) }
    guard sequencer.admits(input) else { return [] }
    var effects: [SessionEffect]
    if input.endsCommit {
      guard let ended = sequencer.endCommit() else { return [] }
      effects = end(ended, by: input, at: now)
    } else {
      effects = decide(input, at: now)
    }
    // Fixing each end of a request in its own place was rejected: reviewers, a random walk and a
    // simulated world had found nine that left a caller waiting, and a tenth would have followed. A
    // refresh that is due is a fact and no call, so it cannot be missed.
    effects += proceed(at: now)
    while let next = sequencer.next() {
      effects += decide(next, at: now) + proceed(at: now)
    }
    return effects
  }

  /// Starts what waits, once no request is under way: the only place where waiting work begins.
  ///
  /// It follows every input, so that no waiting caller is forgotten, however a request ends. When each end
  /// of a request started what came next, nine of them forgot a caller.
  private mutating func proceed(at now: ClockReading) -> [SessionEffect] {
    let effects = begin(at: now)
    guard sequencer.isDeciding else { return effects }
    return effects + noteStorage(at: now)
  }

  mutating func begin(at now: ClockReading) -> [SessionEffect] {
    guard sequencer.isDeciding, stopped == nil else { return [] }
    return refuseLocked() + beginWork(at: now)
  }

  private mutating func beginWork(at now: ClockReading) -> [SessionEffect] {
    if !notes.endings.isEmpty { return noteEndings(at: now) }
    if let settling = settleReauthentication(at: now) { return settling }
    // A close waits for the response under way: it may hold the only refresh token that the server
    // still accepts. A response that cannot be stored yet is not waited for.
    if let closer = callers.first(.close), request == nil || request?.isLogin == true || isStuck {
      return finish(for: closer, at: now)
    }
    guard callers.isEmpty(.close), request == nil, isRestored, !peers.isWaiting,
      fold.kind == .authenticated,
      // A token that cannot be refreshed needs no request to end.
      !holdsRequests || reauthentication.held != nil || state.token?.isRefreshable == false,
      schedule.due != nil || !callers.isEmpty(.token) || !callers.isEmpty(.context)
        || reauthentication.held != nil
    else { return requestProfileIfOwed(at: now) }
    if let open = runningElsewhere(at: now) { return awaitEnd(of: open, at: now) }
    guard schedule.due != nil || !callers.isEmpty(.token) || !isTokenGood(at: now.uptime) else {
      return startSwitch(at: now)
    }
    let effects = startRefresh(schedule.due ?? .command, at: now)
    return sequencer.isDeciding && fold.kind == .authenticated
      ? effects + startSwitch(at: now) : effects
  }

  /// Whether a response has arrived that cannot be journaled yet.
  private var isStuck: Bool { request?.unjournaled != nil }

  private mutating func decide(_ input: SessionInput, at now: ClockReading) -> [SessionEffect] {
    needsFreshView(input) ? readBarrier(for: input, at: now) : follow(input, at: now)
  }

  private mutating func follow(_ input: SessionInput, at now: ClockReading) -> [SessionEffect] {
    switch input {
    case .opened(let facts): open(facts, at: now)
    case .secretsRead(let facts): restore(facts, at: now)
    case .login(let caller, let method): login(caller, method, at: now)
    case .reauthenticate(let caller, let method): reauthenticate(caller, method, at: now)
    case .refresh(let caller, let trigger, let need): refresh(caller, trigger, need, at: now)
    case .switchContext(let caller): switchContext(caller, at: now)
    case .logout(let caller, let scope): logout(caller, scope, at: now)
    case .unlock(let caller): unlock(caller)
    case .lock(let caller): lock(caller, at: now)
    case .beginUnlock(let caller): beginUnlock(caller)
    case .checkFailed(let number): checkFailed(number)
    case .checkPassed(let caller, let number): checkPassed(caller, number, at: now)
    case .foreground(let caller): enterForeground(caller, at: now)
    case .used(let uptime): used(at: uptime, now)
    case .useRead(let last): useRead(last, at: now)
    case .accountCreated(let number): accountCreated(number)
    case .notSignedIn(let number, let problem): notSignedIn(number, problem)
    case .profileRead(let user, let failure, let token):
      profileRead(user, failure, token, at: now)
    case .userNeeded(let need): callNeedsUser(need, at: now)
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
      journalRead(at: records, isHolderGone: isHolderGone, now)
    case .unobserved: journalUnread(at: now)
    case .leaving(let number): leaving(number)
    case .reloaded(let generation, let outcome): reloaded(generation, outcome, at: now)
    case .fired(let timer): fired(timer, at: now)
    case .committed, .conflicted, .commitFailed, .superseded, .presenceNeeded: []
    }
  }

  // MARK: Read barrier

  /// Whether the journal must be read before the input is decided.
  ///
  /// True if the command would be rejected in the known state, which another process may have
  /// changed.
  private func needsFreshView(_ input: SessionInput) -> Bool {
    guard stopped == nil else { return false }
    return switch input {
    case .logout: fold.kind == .unauthenticated
    case .refresh, .switchContext: isRestored && (fold.kind != .authenticated || isLocked)
    case .reauthenticate: isRestored && fold.kind != .authenticated
    case .lock, .checkPassed: fold.kind != .authenticated
    case .beginUnlock: true
    case .login(_, .registration): isRestored && fold.kind != .unauthenticated
    case .login: isRestored && fold.kind == .authenticated
    case .foreground: isRestored
    default: false
    }
  }

  /// Whether a caller's command waits for a read of the journal.
  package var isLookingForCaller: Bool { sequencer.read?.question != nil }

  /// Requests a read of what others appended; as with a commit, nothing else is decided before.
  mutating func readBarrier(for question: SessionInput?, at now: ClockReading) -> [SessionEffect] {
    sequencer.begin(ReadBarrier(question: question, asked: now.uptime))
    return [.readJournal]
  }

  private mutating func journalRead(
    at records: [SessionRecord], isHolderGone: Bool, _ now: ClockReading
  ) -> [SessionEffect] {
    let ended = sequencer.endRead()
    let effects = observed(records, isHolderGone: isHolderGone, at: now)
    let released = ended.map { release(after: $0, at: now) } ?? []
    return effects + released + (ended?.question.map { follow($0, at: now) } ?? [])
  }

  /// Handles a failed read: the caller fails, since its answer would depend on what others
  /// appended.
  private mutating func journalUnread(at now: ClockReading) -> [SessionEffect] {
    let question = sequencer.endRead()?.question
    // What others appended is unknown: a request that was not sent yet is not sent.
    var withdrawn: [SessionEffect] = []
    if request?.isUnsent == true {
      noteUnsentRequest()
      withdrawn = sendingFailed(at: now)
    }
    let effects = withdrawn + observed([], isHolderGone: false, at: now)
    // Entering the foreground asks nothing that only the journal could answer.
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

  /// Resumes all callers that wait for a token or a context.
  mutating func resumeAll(_ reply: SessionEffect.Reply) -> [SessionEffect] {
    schedule.started()
    return resume(callers.takeAll(.context, .token), reply)
  }

  func resume(_ callers: [Caller], _ reply: SessionEffect.Reply) -> [SessionEffect] {
    callers.map { .resume($0, reply) }
  }

  func rejection(_ event: SessionEvent.Kind, _ reason: SessionRejection.Reason) -> CommandFailure {
    .rejected(SessionRejection(state: fold.kind, event: event, reason: reason))
  }

  /// Returns why a command that needs a logged-in user is not possible now.
  func notAuthenticated(_ event: SessionEvent.Kind) -> CommandFailure {
    if let stopped { return stopped }
    if !isRestored { return needsUpdate ? .newerItems : .locked }
    return rejection(event, fold.kind == .expired ? .expired : .notAuthenticated)
  }

  private mutating func clearError() -> [SessionEffect] {
    lastProblem = nil
    return []
  }

  private mutating func fired(_ timer: SessionTimer, at now: ClockReading) -> [SessionEffect] {
    switch timer {
    case .refresh: refreshIsDue(at: now)
    case .expiry: expiryIsDue(at: now)
    case .lease:
      peers.isWaiting || request?.isHeldBack == true ? readBarrier(for: nil, at: now) : []
    case .restore: isRestored ? presenceMayBeShown() : [.readSecrets]
    case .commit: settleAgain(at: now)
    case .wipe: wipeAgain()
    case .revocation: revokeAgain()
    case .inactivity: inactivityIsDue(at: now)
    case .lifetime: lifetimeIsDue(at: now)
    }
  }
}

/// What is known of the stored items.
///
/// ```
///             read                          read
///  unread ───────────▶ ofNewerVersion ◀───────────▶ current
///    ▲  └───────────────────────────────────────────▶ │
///    └──────────────── cannot be read any more ───────┘
/// ```
enum ItemsView: Hashable, Sendable {
  /// They were not read yet, or must be read again. Exits: `ofNewerVersion`, `current`.
  case unread
  /// A newer version wrote them: only a new login or a logout is possible. Exits: `current`.
  case ofNewerVersion
  /// They were read and agree with the journal, so it is known whether a user is logged in.
  ///
  /// Exits: `unread`, `ofNewerVersion`.
  case current
}
