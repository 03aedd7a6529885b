@_spi(Internals) import SessionCore
import SessionJournal

/// The shell of one session.
///
/// It passes inputs to the coordinator and performs the effects that it returns.
///
/// Only the engine uses the journal and the stored items, on a thread that may wait. What happens to a
/// session is decided in the core (`compose-the-coordinator-of-machines`). The engine decides what concerns
/// this process only:
/// - which of its callers waits, and what each receives if the session closes,
/// - whether a held-back logout still waits for its host,
/// - whether an opening that failed is tried again,
/// - which process asks for a new access token for a revocation (its lease), and whether a revocation
///   without its secrets is abandoned or has failed,
/// - when a provider removes the account of a user who has left.
actor SessionEngine {
  typealias Reply = SessionEffect.Reply

  nonisolated let runtime: SessionRuntime
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    runtime.executor.asUnownedSerialExecutor()
  }

  nonisolated let configuration: SessionConfiguration
  /// The values of the policy, as numbers.
  let policy: PolicyFigures
  nonisolated let log: any SessionLog
  /// The identity of this opening, and what it knows of other openings.
  nonisolated let presence: OpeningPresence
  nonisolated let view: SessionView
  /// The questions of callers that come together.
  nonisolated let door = CallerDoor()
  nonisolated let hub: EventHub
  nonisolated let states = StatusHub()
  /// The journal that was quarantined before this one; `nil` if this one ever had a token.
  nonisolated let predecessor: QuarantinedJournal?
  /// The number of consecutive requests during which the process ended, before this opening.
  private let endedProcesses: UInt32
  /// The same journal for the app, if this object is the first to report it.
  nonisolated let journalSetAside: JournalQuarantine?

  let vault: StoredCredentials
  /// Records what the secret store did, until the coordinator receives it.
  let witness = StoreWitness()
  var coordinator: SessionCoordinator
  /// The inputs and effects that wait.
  var loop = EngineLoop()

  // The parts that perform effects. Each holds the state of one kind of work.
  /// The callers that wait for the coordinator.
  var callers = CallerTable()
  /// The requests under way, and their responses.
  var requests = RequestTable()
  private var timers: TimerTable<SessionTimer>
  /// What other processes append.
  var peers = Peers()
  /// Who may have stored the token of that generation, until it is found.
  var storers: (token: Generation, openings: TokenStorers)?
  /// The token and the user in memory.
  var credentials = HeldCredentials() {
    didSet { needsShow = true }
  }
  /// The revocations under way.
  var revocations = RevocationTable()
  /// What runs for a provider of tokens.
  var provider = ProviderBridge()
  /// When the journal is compacted.
  var compaction: CompactionSchedule
  /// The calls to the hosts.
  var hosts: HostCalls
  /// Why a session ended last, as far as the journal shows.
  ///
  /// - Requirement: STA-8
  var lastEnd: LastEnd
  /// The last record that was acknowledged, or whose token was found, as far as this object knows.
  ///
  /// A login after it may be one that failed for its caller.
  var provenSequence: UInt64
  /// The user of the current or last session, as far as this object has seen.
  var lastUser: Identifier?
  /// Why the last work of each kind failed.
  var problems = EngineProblems() {
    didSet { needsShow = true }
  }
  /// Whether the credentials or the problems have changed since they were shown.
  private var needsShow = true
  /// The values of the coordinator on which depends what was shown last.
  private var shownInputs: SessionCoordinator.ShownInputs?
  /// The error if another journal has replaced this one.
  ///
  /// Then this object does and shows nothing any more.
  private(set) var lost: SessionError?

  /// Data of a caller's command that the coordinator must not see.
  enum CommandPayload: Sendable {
    case credential(Credential)
    case adopt(TokenResponse)
    case external(any ExternalLogin)
    case context(ContextTarget)
  }

  init(
    _ configuration: SessionConfiguration, log: any SessionLog, fold: SessionFold,
    plan: RetentionPlan?, runtime: SessionRuntime, presence: OpeningPresence,
    predecessor: QuarantinedJournal? = nil, continuesAnother: Bool = false,
    lastEnd: LastEnd = LastEnd(), endedProcesses: UInt32 = 0,
    storers: (token: Generation, openings: TokenStorers)? = nil, provenSequence: UInt64 = 0
  ) {
    self.storers = storers
    self.lastEnd = lastEnd
    self.provenSequence = provenSequence
    self.endedProcesses = endedProcesses
    self.predecessor = predecessor
    journalSetAside = fold.sequence == 0 ? predecessor.map(JournalQuarantine.init) : nil
    compaction = CompactionSchedule(plan)
    self.configuration = configuration
    self.log = log
    self.presence = presence
    self.runtime = runtime
    timers = TimerTable(clock: configuration.clock, runtime: runtime)
    hosts = HostCalls(configuration, runtime)
    policy = PolicyFigures(configuration.policy)
    view = SessionView(policy)
    vault = StoredCredentials(
      store: WitnessedStore(configuration.secrets, witness), journal: log.identifier,
      path: log.name, binding: configuration.binding)
    hub = EventHub(after: fold.sequence, capacity: max(1, configuration.eventBuffer))
    coordinator = SessionCoordinator(
      policy: policy, fold: fold,
      continuesAnother: continuesAnother || predecessor != nil)
  }

  deinit {
    timers.cancelAll()
    hosts.timers.cancelAll()
    peers.stopFollowing()
    hub.finish()
    states.finish()
  }

  /// Brings the journal and the stored items into agreement.
  ///
  /// Throws if the journal cannot be written and waiting would not help.
  func open(_ loaded: LoadedSession, since began: Timestamp) async throws(SessionError) {
    let debt = loaded.debt
    let keyLoss = await proofKeyLoss()
    var contents = readStoredItems()
    contents.isProofKeyLost = keyLoss(credentials.token?.boundKey)
    contents.began = began
    contents.hostClears = configuration.hasLocalData
    contents.errorCodes = configuration.backend.errorCodes
    contents.owedClearing = debt.reason
    contents.endedProcesses = endedProcesses
    lastUser = debt.user
    (contents.notes, contents.isClockSet) = (loaded.notes, loaded.isClockSet)
    (contents.process, contents.identity) = (presence.process, presence.identity)
    feed(.opened(contents))
    await idle()
    if !coordinator.isOpen, let problem = problems.commit, !problem.isPassing { throw problem }
    if debt.reason == nil, let overtaken = debt.overtaken {
      perform(hosts.clearing.clear(overtaken))
    }
    // From now on, openings that wait for their files or secrets do not delay this session.
    runtime.leaveOpenings(isLogLocal: configuration.place.isLocal)
    followOthers()
  }

  // MARK: Callers

  /// The effect of cancellation on a question to the coordinator.
  enum Cancellation {
    /// The question is not asked, or its reply is not awaited any more.
    case ends
    /// The question is asked anyway, and its reply is not awaited.
    case detaches
    /// The reply is awaited.
    case ignored
  }

  /// Asks the coordinator a question and waits for its reply.
  func ask(
    wish: CommandPayload? = nil, cancellation: Cancellation = .ends,
    _ question: @Sendable (Caller) -> SessionInput
  ) async throws(SessionError) -> Reply {
    guard cancellation != .ends || !Task.isCancelled else { throw .cancelled }
    if let lost { throw lost }
    let caller = callers.add(wish)
    let input = question(caller)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        callers.begin(caller, continuation)
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

  /// Closes the journal and ends every sequence of events, even if it throws.
  func close() async throws(SessionError) -> Bool {
    await keepLastUse()
    perform(hosts.clearing.close())
    await endRevocations()
    var failure: SessionError?
    // Only requests on the wire are awaited, which takes a limited time. Nothing prevents the
    // journal from closing.
    do throws(SessionError) {
      _ = try await ask(cancellation: .ignored) { .close($0) }
    } catch {
      // A journal that is gone cannot take a note.
      if lost == nil { failure = error }
    }
    undoLogin()
    peers.stopFollowing()
    hub.finish()
    states.finish()
    await revocationRequestsEnded()
    // An external login may outlive the session. Then the presence ends with this object.
    if requests.isEmpty { presence.end() }
    await idle()
    do throws(JournalError) { try log.close() } catch {
      // The caller has already received that it is another journal.
      if lost == nil || !error.isOfAnotherHistory { failure = failure ?? .journal(error) }
    }
    if let failure { throw failure }
    return !isClearing
  }

  /// Stops the session if another journal has replaced this one, or if its own file has another
  /// history.
  ///
  /// It was quarantined, deleted or repaired, and that journal decides who is signed in
  /// (Specs/Decisions/quarantine-an-unusable-journal.md).
  ///
  /// Nothing is written any more, no user and no token is shown, and every waiting caller receives
  /// the error.
  func loseJournal(by error: JournalError) {
    guard error.isOfAnotherHistory, lost == nil else { return }
    let problem = SessionError.journal(error)
    lost = problem
    // To follow into the new journal, this object would have to become another one, with another
    // history, another owner of the items, and responses on their way that belong to the old one.
    // The last known state would be a claim without a token: a screen would show a user whose calls
    // all fail.
    credentials.loseTokens()
    timers.cancelAll()
    hosts.clearing.loseJournal()
    callers.endAll(with: problem)
    show()
  }

  private func resume(_ caller: Caller, _ reply: Reply) {
    let wish = callers.takePayload(of: caller)
    let answer: CallerTable.Answer
    if case .failed(let problem) = reply {
      answer = .failure(error(problem, of: wish))
    } else {
      answer = .success(reply)
    }
    callers.end(caller, with: answer)
  }

  // MARK: What is shown

  /// Shows what an input has changed, if anything.
  ///
  /// Half of the inputs change nothing that is shown.
  func showChanges(after input: SessionInput) {
    // To show copies the state, the token and the user. A new value that is shown needs a place in
    // `ShownInputs`, or subscribers miss its change (a property of `SessionViewTests`).
    let isShown =
      !needsShow && !input.mayBringRecords && coordinator.shownInputs() == shownInputs
      && credentials.unjournaled == nil && !hosts.awaitsUser()
    if !isShown { show() }
  }

  func show() {
    let shown = coordinator.shown()
    let (facts, user) = (shown.state.token, shown.state.user)
    lastUser = user ?? lastUser
    var snapshot = SessionView.Snapshot()
    snapshot.state = shown.state
    snapshot.activity = shown.activity
    snapshot.loginError = shownError(of: shown.loginError)
    snapshot.end = shown.endCause
    snapshot.need = shown.need
    snapshot.isLocked = shown.isLocked
    let held = credentials.shown(of: user, facts?.generation)
    snapshot.user = held.profile
    if lost != nil {
      // The journal that is there now decides who is signed in.
      (snapshot.state, snapshot.activity, snapshot.user) = (.unauthenticated, .replaced, nil)
      (snapshot.loginError, snapshot.need, snapshot.isLocked) = (nil, nil, false)
    }
    let isShown = lost == nil && !shown.isLocked
    if isShown { snapshot.token = held.token }
    snapshot.deadline = shown.tokenDeadline
    if isShown, let newer = held.unjournaled, coordinator.holds(newer.number),
      newer.token.generation > facts?.generation ?? .none
    {
      snapshot.token = newer.token.accessToken
      snapshot.deadline = newer.deadline
    }
    snapshot.storageProblem = lost ?? unreadItems ?? problems.commit
    snapshot.compactionProblem = problems.compaction
    snapshot.lastEnd = lastEnd.end
    view.use.follow(shown.lastUse, until: shown.lifetimeEnd, isLocked: shown.isLocked)
    let before = view.swap(snapshot)
    warn(of: snapshot, after: before)
    states.publish(
      SessionStatus(
        snapshot, sequence: shown.eventSequence, uptime: configuration.clock.now().uptime))
    tellStatus(of: user)
    perform(hosts.clearing.observe(hasUser: shown.state.kind != .unauthenticated))
    shownInputs = coordinator.shownInputs()
    needsShow = false
  }

  /// Reports a problem when it begins or changes.
  private func warn(of shown: SessionView.Snapshot, after before: SessionView.Problems) {
    if let error = shown.storageProblem,
      StorageIssue(error) != before.storage.map(StorageIssue.init)
    {
      hub.warn(.storageFailing(error))
    }
    if let error = shown.compactionProblem,
      StorageIssue(error) != before.compaction.map(StorageIssue.init)
    {
      hub.warn(.compactionFailing(error))
    }
  }

  /// Performs an effect; throws if it must be tried again, and then nothing was done.
  func perform(_ effect: SessionEffect) throws(Busy) {
    switch effect {
    case .commit(let commit): answer(try perform(commit))
    case .send(let number, let request): send(number, request)
    case .discard(let number, let revoking): discard(number, revoking: revoking)
    case .publish(let events): hub.publish(events)
    case .skip(let sequence): hub.skip(through: sequence)
    case .resume(let caller, let reply): resume(caller, reply)
    case .schedule(let timer, let uptime): schedule(timer, uptime)
    case .cancel(let timer): timers.cancel(timer)
    case .wipe(let wipe): begin(wipe)
    case .revoke(let generation): revoke(generation)
    case .forgetRevocation(let generation): try forgetRevocation(of: generation)
    case .reloadToken(let generation): reload(generation)
    case .readSecrets: feed(.secretsRead(readStoredItems()))
    case .readJournal: answer(try observe())
    case .askProfile(let user, let generation): askProfile(of: user, generation)
    case .markActive(let uptime): start { await $0.persistActivity(at: uptime) }
    case .readUse: feed(.useRead(readUse()))
    case .clearLocalData(let reason): clearLocalData(reason)
    }
  }

  /// Runs work of the engine that outlives the call, and keeps the engine until its end.
  ///
  /// The task has no thread but the engine's. One of ``spawn(_:)`` begins on another thread, which it
  /// leaves at once and returns to at its end. Calls of apps, SDKs and hosts must not begin here.
  @discardableResult
  func start(_ work: @escaping @Sendable (isolated SessionEngine) async -> Void)
    -> Task<Void, Never>
  {
    // Each `await` of the engine from outside is two changes of the thread: a logout has one.
    guard let tasks = runtime.tasks else { return Task { await work(self) } }
    return Task(executorPreference: tasks) { await work(self) }
  }

  /// Runs work that outlives the call, without keeping the engine alive for it.
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
    guard lost == nil else { return timers.cancel(timer) }
    timers.schedule(timer, at: uptime) { [weak self] in await self?.fire(timer, $0) }
  }

  private func fire(_ timer: SessionTimer, _ number: UInt64) {
    guard timers.takeFired(timer, number) else { return }
    if timer == .inactivity { return checkUse() }
    feed(.fired(timer))
  }
}

/// The token and the user that this process holds in memory.
struct HeldCredentials: Sendable {
  /// A token of a response whose event could not be journaled yet.
  struct Unjournaled: Sendable {
    let number: RequestNumber
    let token: StoredToken
    let deadline: Int64
  }

  /// The token of the session, as far as the stored items could be read.
  var token: StoredToken?
  /// The token of a response whose event could not be journaled yet.
  ///
  /// It is stored, so a crash does not lose it. It is the token that the server accepts.
  ///
  /// - Requirement: RES-6
  @Rare var unjournaled: Unjournaled?
  /// The token that a sign-in has stored but could not journal, until it is undone.
  @Rare var loginToRollBack: StoredToken?
  /// The profile of the user.
  var profile: UserProfile?
  /// The source that named the user in the profile; `nil` if that is not known.
  var origin: UserOrigin?
  /// The `sub` of the identity token that named the user; `nil` if none is known.
  var identitySubject: String?

  mutating func take(_ user: StoredUser?) {
    (profile, origin, identitySubject) = (user?.profile, user?.origin, user?.fields.subject)
  }

  /// Returns what is shown of a user, and of the token of a generation.
  ///
  /// It changes nothing. It is mutating so that the engine passes its value and not a copy of it. The
  /// engine takes it for a change, so only ``SessionEngine/show()`` may call it, which ends with that.
  mutating func shown(of user: Identifier?, _ generation: Generation?) -> (
    profile: UserProfile?, token: AccessToken?, unjournaled: Unjournaled?
  ) {
    var shown: AccessToken?
    if let generation, token?.generation == generation {
      shown = token?.accessToken
    }
    return (profile?.id == user ? profile : nil, shown, unjournaled)
  }

  /// Forgets the tokens, because another journal decides who is signed in.
  mutating func loseTokens() {
    (token, unjournaled) = (nil, nil)
  }
}
