@_spi(Internals) import SessionCore
import SessionJournal

/// The shell of one session: tells the coordinator what happened and does what it says.
///
/// It decides nothing. Journal and stored items are touched here only, on a thread that may wait.
actor SessionEngine {
  typealias Reply = SessionEffect.Reply

  nonisolated let runtime: SessionRuntime
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    runtime.executor.asUnownedSerialExecutor()
  }

  nonisolated let configuration: SessionConfiguration
  /// The figures of its policy.
  let policy: PolicyFigures
  nonisolated let journal: Journal
  /// Which opening this is, and what it knows of others.
  nonisolated let presence: OpeningPresence
  nonisolated let view: SessionView
  nonisolated let hub: EventHub
  nonisolated let states = StatusHub()
  /// The journal that was set aside before this one, where this one never had a token.
  nonisolated let predecessor: QuarantinedJournal?
  /// How many requests in a row ended their process before this opening.
  private let endedProcesses: UInt32
  /// The same for the app, where this object is the first to say so.
  nonisolated let journalSetAside: JournalQuarantine?

  let vault: StoredCredentials
  /// What the secret store did, until the coordinator receives it.
  private let witness = StoreWitness()
  var coordinator: SessionCoordinator
  /// Why the last sign-in failed, and the error that the session shows for it.
  var shownProblem: (problem: CommandFailure, error: SessionError)?
  var inbox: [SessionInput] = []
  /// Others' records that were met under the lock and that the coordinator was not told of yet.
  var undeliveredPeerRecords: [SessionRecord] = []
  private var isFeeding = false

  // Handles: the coordinator knows their numbers only.
  private var callers: [Caller: CheckedContinuation<Result<Reply, SessionError>, Never>] = [:]
  private var callerCount: UInt64 = 0
  var wishes: [Caller: CommandPayload] = [:]
  var answers: [RequestNumber: TokenResponse] = [:]
  var requests: [RequestNumber: Task<Void, Never>] = [:]
  /// The last request that may change a token, and which token it was made with.
  var lastTokenRequest: (base: Generation, task: Task<Void, Never>)?
  private var timers: [SessionTimer: Task<Void, Never>] = [:]
  /// Looks at what others append.
  var follower: Task<Void, Never>?
  var token: StoredToken?
  /// The token of an answer whose event could not be journaled yet: it is stored, so a crash does not
  /// lose it, and it is the one that the server takes.
  ///
  /// - Requirement: RES-6
  var unjournaledToken: (number: RequestNumber, token: StoredToken, deadline: Int64)?
  /// The tokens of sessions that have ended, until what revoking them needs is stored.
  var tokensToRevoke: [Generation: StoredToken] = [:]
  /// What revocations need that could not be stored.
  var unkept: [Generation: StoredRevocations.Entry] = [:]
  /// The users whose accounts the token source is still to forget.
  let owed = PendingAccountRemovals()
  /// The token source forgets an account; bounded in time.
  var removal: Task<Void, Never>?
  /// What a sign-in has stored that could not be journaled, until it is undone.
  var loginToRollBack: StoredToken?
  /// What of the journal could go; `nil` where everything is kept.
  var plan: RetentionPlan?
  /// Records that the plan was not told of yet, with how many bytes each takes.
  var retentionBacklog: [(record: SessionRecord, bytes: UInt64)] = []
  /// When compacting is tried again at the earliest, on the clock that never jumps.
  var nextCompaction = Int64.min
  var compactionProblem: SessionError?
  var profile: UserProfile?
  /// Which source named that user; `nil` if that is not known.
  var origin: UserOrigin?
  /// A change of a user's status that the host was not told of, for the session may not be theirs yet.
  var pendingStatusChange: StatusChange?
  /// The host is told of one.
  var statusTask: Task<Void, Never>?
  /// The host clears its local data, one call after the other; by their numbers.
  var clearing: [Int: Task<Void, Never>] = [:]
  /// How often it was told to.
  var clearings = 0
  /// Counts the time that the call under way may take.
  var clearingLimit: Task<Void, Never>?
  /// Whether that time is over and the call runs on.
  var isClearingOverdue = false
  /// Who waits until it has, with what keeps them from going on; `nil` for nothing.
  var clearingWaits: [UInt64: CheckedContinuation<SessionError?, Never>] = [:]
  var clearingWaitCount: UInt64 = 0
  var isClosing = false
  /// How many logouts have asked the hosts to hold changes, and have not ended.
  var logoutHolds = 0
  /// Ends after the hosts were called to release what they held.
  var holdRelease: Task<Void, Never>?
  /// What could not be cleared, how often in a row, and who tries again.
  var owedClearing: EndedSession?
  var failedClearings = 0
  var clearingRetry: Task<Void, Never>?
  /// Why a session ended last, as far as the journal tells.
  ///
  /// - Requirement: STA-8
  var lastEnd: LastEnd
  /// Whose session it is, or was last, as far as this object has seen.
  var lastUser: Identifier?
  /// The last external login.
  var externalLogin: (any ExternalLogin)?
  /// Ends when nothing of that one and those before is open any more.
  var loginsBefore: Task<Void, Never>?

  /// What the last failure was about, for the replies that follow from it.
  var detail: String?
  var commitError: SessionError?
  /// What kept the last answer from being stored.
  var unstored: SessionError?
  /// Why the stored items may not be used, as of the last read: they are of a newer version, or of
  /// another session.
  var secretsProblem: SessionError?
  /// That another journal stands in this one's place: nothing is done or shown by this object any more.
  private(set) var lost: SessionError?

  /// What a caller wants that the coordinator must not see.
  enum CommandPayload: Sendable {
    case credential(Credential)
    case adopt(TokenResponse)
    case external(any ExternalLogin)
    case context(ContextTarget)
  }

  init(
    _ configuration: SessionConfiguration, journal: Journal, fold: SessionFold,
    plan: RetentionPlan?, runtime: SessionRuntime, presence: OpeningPresence,
    predecessor: QuarantinedJournal? = nil, continuesAnother: Bool = false,
    lastEnd: LastEnd = LastEnd(),
    endedProcesses: UInt32 = 0
  ) {
    self.lastEnd = lastEnd
    self.endedProcesses = endedProcesses
    self.predecessor = predecessor
    journalSetAside = fold.sequence == 0 ? predecessor.map(JournalQuarantine.init) : nil
    self.plan = plan
    self.configuration = configuration
    self.journal = journal
    self.presence = presence
    self.runtime = runtime
    policy = PolicyFigures(configuration.policy)
    view = SessionView(policy)
    vault = StoredCredentials(
      store: WitnessedStore(configuration.secrets, witness), journal: journal.identifier,
      path: journal.path, binding: configuration.binding)
    hub = EventHub(after: fold.sequence, capacity: max(1, configuration.eventBuffer))
    coordinator = SessionCoordinator(
      policy: policy, fold: fold,
      continuesAnother: continuesAnother || predecessor != nil)
  }

  deinit {
    for task in timers.values { task.cancel() }
    follower?.cancel()
    clearingRetry?.cancel()
    clearingLimit?.cancel()
    hub.finish()
    states.finish()
  }

  /// Brings journal and stored items into agreement; throws where the journal cannot be written, and
  /// not only for now.
  func open(
    noting notes: [SessionNote], owing debt: PendingDataClearing, since began: Timestamp
  ) throws(SessionError) {
    var contents = readStoredItems()
    contents.began = began
    contents.hostClears = configuration.hasLocalData
    contents.errorCodes = configuration.backend.errorCodes
    contents.owedClearing = debt.reason
    contents.endedProcesses = endedProcesses
    lastUser = debt.user
    contents.notes = notes
    (contents.process, contents.identity) = (presence.process, presence.identity)
    feed(.opened(contents))
    if !coordinator.isOpen, let commitError, !commitError.isPassing { throw commitError }
    if debt.reason == nil, let overtaken = debt.overtaken { clear(overtaken) }
    followOthers()
  }

  // MARK: Callers

  /// What becomes of a question whose task is cancelled.
  enum Cancellation {
    /// It is not put, or nobody waits for the reply any more.
    case ends
    /// It is put even so, and nobody waits for the reply.
    case detaches
    /// The reply is waited for.
    case ignored
  }

  /// Puts a question to the coordinator and waits for its reply.
  func ask(
    wish: CommandPayload? = nil, cancellation: Cancellation = .ends,
    _ question: @Sendable (Caller) -> SessionInput
  ) async throws(SessionError) -> Reply {
    guard cancellation != .ends || !Task.isCancelled else { throw .cancelled }
    if let lost { throw lost }
    callerCount += 1
    let caller = Caller(callerCount)
    wishes[caller] = wish
    let input = question(caller)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        callers[caller] = continuation
        feed(input)
      }
    } onCancel: {
      if cancellation != .ignored { spawn { $0.feed(.cancelled(caller)) } }
    }
    return try result.get()
  }

  func clearError() {
    feed(.clearError)
  }

  /// Closes the journal and ends every sequence of events, also if it throws.
  func close() async throws(SessionError) -> Bool {
    keepLastUse()
    stopClearingWaits()
    var failure: SessionError?
    // Only what is on the wire is waited for, which is bounded; nothing keeps this from closing.
    do throws(SessionError) {
      _ = try await ask(cancellation: .ignored) { .close($0) }
    } catch {
      // Nothing can be noted in a journal that is gone.
      if lost == nil { failure = error }
    }
    follower?.cancel()
    hub.finish()
    states.finish()
    // An external login may outlive the session: then its end is the end of this object.
    if requests.isEmpty { presence.end() }
    do throws(JournalError) { try journal.close() } catch {
      // That it is another one was told when it was met.
      if lost == nil || !error.isOfAnotherHistory { failure = failure ?? .journal(error) }
    }
    if let failure { throw failure }
    return !isClearing
  }

  /// Gives up where another journal stands in this one's place, or its own with another past: it was set
  /// aside, deleted or repaired, and who is signed in is decided there
  /// (Specs/Decisions/quarantine-an-unusable-journal.md).
  ///
  /// Nothing is written any more, no user and no token is shown, and every waiting caller gets the error.
  func loseJournal(by error: JournalError) {
    guard error.isOfAnotherHistory, lost == nil else { return }
    let problem = SessionError.journal(error)
    (lost, token, unjournaledToken) = (problem, nil, nil)
    for task in timers.values { task.cancel() }
    timers = [:]
    let waiting = callers.values
    (callers, wishes) = ([:], [:])
    for continuation in waiting { continuation.resume(returning: .failure(problem)) }
    show()
  }

  private func resume(_ caller: Caller, _ reply: Reply) {
    let wish = wishes.removeValue(forKey: caller)
    guard let continuation = callers.removeValue(forKey: caller) else { return }
    if case .failed(let problem) = reply {
      continuation.resume(returning: .failure(error(problem, of: wish)))
    } else {
      continuation.resume(returning: .success(reply))
    }
  }

  // MARK: The loop

  /// Tells the coordinator what happened and does what it says, until nothing is left to tell.
  func feed(_ input: SessionInput) {
    inbox.append(input)
    guard !isFeeding else { return }
    isFeeding = true
    defer { isFeeding = false }
    repeat {
      while !inbox.isEmpty || !undeliveredPeerRecords.isEmpty {
        if !undeliveredPeerRecords.isEmpty {
          inbox.insert(.observed(unknown([]), isHolderGone: false), at: 0)
        }
        let effects = coordinator.handle(inbox.removeFirst(), at: configuration.clock.now())
        show()
        for effect in effects { perform(effect) }
        let reports = witness.takeReports()
        if !reports.isEmpty { inbox.append(.stored(reports)) }
      }
      if let observed = compactIfDue() { inbox.append(observed) }
    } while !inbox.isEmpty
    detail = nil
  }

  func show() {
    let facts = coordinator.state.token
    lastUser = coordinator.state.user ?? lastUser
    let isHeld = token != nil && token?.generation == facts?.generation
    var snapshot = SessionView.Snapshot()
    snapshot.state = coordinator.state
    snapshot.activity = coordinator.activity
    snapshot.loginError = loginError()
    snapshot.end = coordinator.endCause
    snapshot.user = profile?.id == coordinator.state.user ? profile : nil
    if lost != nil {
      // Who is signed in is decided in the journal that stands there now.
      (snapshot.state, snapshot.activity, snapshot.user) = (.unauthenticated, .replaced, nil)
      snapshot.loginError = nil
    }
    if isHeld, lost == nil, let token {
      snapshot.token = AccessToken(
        token.access, generation: token.generation, expiresAt: token.expiresAt)
    }
    snapshot.deadline = coordinator.tokenDeadline
    if let unjournaledToken, coordinator.isHolding(unjournaledToken.number),
      unjournaledToken.token.generation > facts?.generation ?? .none
    {
      snapshot.token = AccessToken(
        unjournaledToken.token.access, generation: unjournaledToken.token.generation,
        expiresAt: unjournaledToken.token.expiresAt)
      snapshot.deadline = unjournaledToken.deadline
    }
    snapshot.waiterCount = coordinator.waiterCount
    snapshot.storageProblem = lost ?? secretsProblem ?? commitError
    snapshot.compactionProblem = compactionProblem
    snapshot.lastEnd = lastEnd.end
    view.use.follow(coordinator.lastUse, until: coordinator.lifetimeEnd)
    let before = view.current
    view.swap(snapshot)
    warn(of: snapshot, after: before)
    states.publish(SessionStatus(snapshot, sequence: coordinator.fold.eventSequence))
    tellStatus()
    noteLaterLogin()
  }

  /// Tells of trouble when it begins, or becomes another.
  private func warn(of shown: SessionView.Snapshot, after before: SessionView.Snapshot) {
    if let error = shown.storageProblem,
      StorageIssue(error) != before.storageProblem.map(StorageIssue.init)
    {
      hub.warn(.storageFailing(error))
    }
    if let error = shown.compactionProblem,
      StorageIssue(error) != before.compactionProblem.map(StorageIssue.init)
    {
      hub.warn(.compactionFailing(error))
    }
  }

  private func perform(_ effect: SessionEffect) {
    switch effect {
    case .commit(let commit): inbox.insert(perform(commit), at: 0)
    case .send(let number, let request): send(number, request)
    case .discard(let number, let revoking): discard(number, revoking: revoking)
    case .publish(let events): hub.publish(events)
    case .skip(let sequence): hub.skip(through: sequence)
    case .resume(let caller, let reply): resume(caller, reply)
    case .schedule(let timer, let uptime): schedule(timer, uptime)
    case .cancel(let timer): timers.removeValue(forKey: timer)?.cancel()
    case .wipe(let wipe): perform(wipe)
    case .revoke(let generation): revoke(generation)
    case .forgetRevocation(let generation): forgetRevocation(of: generation)
    case .reloadToken(let generation): reload(generation)
    case .readSecrets: inbox.append(.secretsRead(readStoredItems()))
    case .readJournal: inbox.insert(observe(), at: 0)
    case .askProfile(let user, let generation): askProfile(of: user, generation)
    case .markActive(let uptime): spawn { $0.persistActivity(at: uptime) }
    case .readUse: inbox.append(.useRead(readUse()))
    case .clearLocalData(let reason): clearLocalData(reason)
    }
  }

  /// Runs work that outlives the call, without keeping the session alive for it.
  @discardableResult
  nonisolated func spawn(
    _ work: @escaping @Sendable (isolated SessionEngine) async -> Void
  ) -> Task<Void, Never> {
    runtime.spawn { [weak self] in
      guard let self else { return }
      await work(self)
    }
  }

  private func schedule(_ timer: SessionTimer, _ uptime: Int64) {
    timers.removeValue(forKey: timer)?.cancel()
    guard lost == nil else { return }
    let clock = configuration.clock
    timers[timer] = runtime.spawn { [weak self] in
      do { try await clock.sleep(untilUptime: uptime) } catch { return }
      await self?.fire(timer)
    }
  }

  private func fire(_ timer: SessionTimer) {
    // A timer that was replaced while its task was on its way here does not count.
    guard !Task.isCancelled else { return }
    timers[timer] = nil
    if timer == .inactivity { return checkUse() }
    feed(.fired(timer))
  }
}
