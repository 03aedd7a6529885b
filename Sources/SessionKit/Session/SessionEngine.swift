import SessionCore
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
  nonisolated let journal: Journal
  nonisolated let view = SessionView()
  nonisolated let hub: EventHub
  nonisolated let states = StatusHub()

  let vault: Vault
  var coordinator: SessionCoordinator
  private var inbox: [SessionInput] = []
  private var isFeeding = false

  // Handles: the coordinator knows their numbers only.
  private var callers: [Caller: CheckedContinuation<Result<Reply, SessionError>, Never>] = [:]
  private var callerCount: UInt64 = 0
  var wishes: [Caller: Wish] = [:]
  var answers: [RequestNumber: TokenAnswer] = [:]
  var requests: [RequestNumber: Task<Void, Never>] = [:]
  private var timers: [SessionTimer: Task<Void, Never>] = [:]
  /// Looks at what others append.
  var follower: Task<Void, Never>?
  var token: StoredToken?
  /// What of the journal could go; `nil` where everything is kept.
  var plan: RetentionPlan?
  /// Records that the plan was not told of yet, with how many bytes each takes.
  var untold: [(record: SessionRecord, bytes: UInt64)] = []
  /// When compacting is tried again at the earliest, on the clock that never jumps.
  var nextCompaction = Int64.min
  var compactionProblem: SessionError?
  private var profile: UserProfile?

  /// What the last failure was about, for the replies that follow from it.
  var detail: String?
  private var commitError: SessionError?

  /// What a caller wants that the coordinator must not see.
  enum Wish: Sendable {
    case signIn(PasswordCredentials)
    case adopt(TokenAnswer)
    case context(ContextTarget)
  }

  init(
    _ configuration: SessionConfiguration, journal: Journal, fold: SessionFold,
    plan: RetentionPlan?, runtime: SessionRuntime
  ) {
    self.plan = plan
    self.configuration = configuration
    self.journal = journal
    self.runtime = runtime
    vault = Vault(store: configuration.secrets, journal: journal.identifier)
    hub = EventHub(after: fold.sequence, capacity: configuration.eventBuffer)
    coordinator = SessionCoordinator(policy: configuration.policy, fold: fold)
  }

  deinit {
    for task in timers.values { task.cancel() }
    follower?.cancel()
    hub.finish()
    states.finish()
  }

  /// Brings journal and stored items into agreement; throws where the journal cannot be written, and
  /// not only for now.
  func open(noting notes: [SessionNote], process: UInt32) throws(SessionError) {
    var contents = look()
    contents.notes = notes
    contents.process = process
    feed(.opened(contents))
    if !coordinator.isOpen, let commitError, !commitError.isPassing { throw commitError }
    followOthers()
  }

  // MARK: Callers

  /// Puts a question to the coordinator and waits for its reply.
  func ask(
    wish: Wish? = nil, ignoresCancellation: Bool = false,
    _ question: @Sendable (Caller) -> SessionInput
  ) async throws(SessionError) -> Reply {
    guard ignoresCancellation || !Task.isCancelled else { throw .cancelled }
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
      if !ignoresCancellation { spawn { $0.feed(.cancelled(caller)) } }
    }
    return try result.get()
  }

  func clearError() {
    feed(.clearError)
  }

  /// Closes the journal and ends every sequence of events.
  func close() async throws(SessionError) {
    // Only what is on the wire is waited for, which is bounded; nothing keeps this from closing.
    _ = try await ask(ignoresCancellation: true) { .close($0) }
    follower?.cancel()
    hub.finish()
    states.finish()
    do throws(JournalError) { try journal.close() } catch { throw .journal(error) }
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

  private func error(_ problem: SessionProblem, of wish: Wish?) -> SessionError {
    let isSignIn = if case .signIn = wish { true } else { false }
    return switch problem {
    case .rejected(let rejection): SessionError(rejection)
    case .request(let failure): SessionError(failure, detail: detail, isSignIn: isSignIn)
    case .ended(let state, let cause): SessionError(endedIn: state, by: cause)
    case .unsettled: .notStoredYet
    case .busy: .signInUnderWay
    case .tooManyAttempts(let wait): .rateLimited(retryAfter: wait)
    case .storage: commitError ?? .closed
    case .locked: .secretsUnavailable
    case .unusableJournal(let failure):
      .unusableJournal(
        path: journal.path, sequence: failure.sequence, problem: failure.description)
    case .closed: .closed
    case .cancelled: .cancelled
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
      while !inbox.isEmpty {
        let effects = coordinator.handle(inbox.removeFirst(), at: configuration.clock.now())
        show()
        for effect in effects { perform(effect) }
      }
      if let observed = compactIfDue() { inbox.append(observed) }
    } while !inbox.isEmpty
    detail = nil
  }

  func show() {
    let facts = coordinator.state.token
    let isHeld = token != nil && token?.generation == facts?.generation
    var snapshot = SessionView.Snapshot()
    snapshot.state = coordinator.state
    snapshot.activity = coordinator.activity
    snapshot.user = profile?.id == coordinator.state.user ? profile : nil
    if isHeld, let token {
      snapshot.token = AccessToken(
        value: token.access, generation: token.generation, expiresAt: token.expiresAt)
    }
    snapshot.deadline = coordinator.tokenDeadline
    snapshot.waiterCount = coordinator.waiterCount
    snapshot.storageProblem = commitError
    snapshot.compactionProblem = compactionProblem
    view.swap(snapshot)
    states.publish(SessionStatus(snapshot, sequence: coordinator.fold.eventSequence))
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
    case .forgetRevocation: forgetRevocation()
    case .reloadToken(let generation): reload(generation)
    case .readSecrets: inbox.append(.secretsRead(look()))
    case .readJournal: inbox.insert(observe(), at: 0)
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
    feed(.fired(timer))
  }
}

// MARK: Journal and stored items

extension SessionEngine {
  /// Catch up, secrets durable, event durable: all under the journal's lock.
  private func perform(_ commit: SessionCommit) -> SessionInput {
    if case .wiped(.overtaken(let records))? = inbox.first, !records.isEmpty {
      // The wipe before it in the list has met them: the commit was decided without them.
      inbox[0] = .wiped(.overtaken([]))
      return .conflicted(records)
    }
    if let number = commit.storing, let profile { complete(number, commit, by: profile) }
    let drafts = commit.contents.map { JournalDraft($0, at: commit.time) }
    var conflict: [SessionRecord] = []
    var stored: StoredToken?
    var failure: SessionError?
    do throws(JournalError) {
      let transaction = try journal.transact { foreign in
        conflict = read(foreign)
        guard conflict.isEmpty else { return [] }
        guard let number = commit.storing, let answer = answers[number] else { return drafts }
        do throws(SessionError) {
          stored = try vault.store(answer, announcedBy: commit, replacing: token)
          return drafts
        } catch {
          failure = error
          return []
        }
      }
      if !conflict.isEmpty { return .conflicted(conflict) }
      if let first = transaction.appended.first {
        commitError = nil
        count(transaction.appended, of: commit)
        keep(stored, of: commit.storing)
        return .committed(firstSequence: first.sequence)
      }
    } catch {
      failure = .journal(error)
    }
    commitError = failure
    let isLasting = failure?.isLasting ?? false
    return conflict.isEmpty ? .commitFailed(isLasting: isLasting) : .conflicted(conflict)
  }

  /// What an answer beside a new token does not say of the user stays as it is stored; a login says all.
  private func complete(_ number: RequestNumber, _ commit: SessionCommit, by known: UserProfile) {
    if case .login = commit.announcement { return }
    guard let user = answers[number]?.user, user.id == known.id else { return }
    answers[number]?.user = UserProfile(
      id: user.id, email: user.email ?? known.email,
      firstName: user.firstName ?? known.firstName, lastName: user.lastName ?? known.lastName)
  }

  /// Other processes' records; what is kept of the journal follows from them too.
  func read(_ foreign: [JournalRecord]) -> [SessionRecord] {
    foreign.compactMap { raw in
      guard let record = read(raw) else { return nil }
      count(record, raw)
      return record
    }
  }

  private func count(_ appended: [JournalRecord], of commit: SessionCommit) {
    for (raw, content) in zip(appended, commit.contents) {
      count(SessionRecord(sequence: raw.sequence, time: commit.time, content: content), raw)
    }
  }

  private func count(_ record: SessionRecord, _ raw: JournalRecord) {
    guard plan != nil else { return }
    untold.append((record, JournalFrame.bytes(of: raw.payload.count)))
  }

  /// A record of another process; one whose payload cannot be read stays one that nobody knows.
  private func read(_ raw: JournalRecord) -> SessionRecord? {
    do throws(SessionError) {
      return try SessionRecord(raw, path: journal.path)
    } catch {
      let unknown = SessionRecord.Unknown(kind: raw.kind, payload: raw.payload)
      return SessionRecord(
        sequence: raw.sequence, time: Timestamp(milliseconds: 0), content: .unknown(unknown))
    }
  }

  /// What others have appended; durable, since it is read under the journal's lock.
  private func observe() -> SessionInput {
    var records: [SessionRecord] = []
    do throws(JournalError) {
      _ = try journal.transact { foreign in
        records = read(foreign)
        return []
      }
    } catch {
      // Not readable now: who waits for another's request looks again, who asked is told.
      commitError = .journal(error)
      return .unobserved
    }
    return .observed(records, isHolderGone: isHolderGone(after: records))
  }

  /// Whether the process whose request is open is certainly gone.
  private func isHolderGone(after records: [SessionRecord]) -> Bool {
    guard records.isEmpty, let holder = coordinator.fold.intents.request?.sent.process else {
      return false
    }
    return ProcessStatus.isGone(holder)
  }

  private func keep(_ stored: StoredToken?, of number: RequestNumber?) {
    guard let stored, let number else { return }
    token = stored
    if let user = answers.removeValue(forKey: number)?.user { profile = user }
  }

  private func look() -> StoredFacts {
    let contents = vault.look()
    token = contents.token
    profile = contents.profile
    var facts = contents.facts
    facts.isHolderGone = isHolderGone(after: [])
    return facts
  }

  /// Removes items under the journal's lock: what another process signed in to is not touched.
  private func perform(_ wipe: SessionEffect.Wipe) {
    let held = token
    if case .nothing = wipe {} else { token = nil }
    var others: [SessionRecord] = []
    var isDone = true
    do throws(JournalError) {
      _ = try journal.transact { foreign in
        others = read(foreign)
        guard others.isEmpty else { return [] }
        do throws(SessionError) { try vault.wipe(wipe, current: held) } catch { isDone = false }
        return []
      }
    } catch {
      isDone = false
    }
    guard others.isEmpty else {
      token = held
      // Before anything else is decided: a commit would take these records for known.
      return inbox.insert(.wiped(.overtaken(others)), at: 0)
    }
    inbox.append(.wiped(isDone ? .done : .failed))
  }

  private func reload(_ generation: Generation) {
    do throws(SecretStoreError) {
      let stored = try vault.token()
      profile = try vault.profile()
      token = stored?.generation == generation ? stored : nil
      inbox.append(.reloaded(generation, token == nil ? .other : .found))
    } catch {
      // Ours is dead, and the other process's cannot be read yet: none is better than a wrong one.
      token = nil
      inbox.append(.reloaded(generation, .unread))
    }
    show()
  }

  private func forgetRevocation() {
    do throws(SecretStoreError) {
      try vault.forgetRevocation()
    } catch {
      // It stays where it is, of no use to anybody, and is removed at the next open.
    }
  }
}
