public import Foundation
@_spi(Internals) public import SessionCore

/// A session that lives in a journal: every transition is an event, the state is their fold.
///
/// Any number of tasks may use it at once. What it shows (`state`, `currentToken` …) can be read on
/// any thread without waiting; what it does is serialised, and never two requests for a token are
/// on the wire at a time.
public final class Session: Sendable {
  let engine: SessionEngine
  /// What carries the calls of ``data(for:as:)``, made at the first one.
  let sharedCalls = SharedCalls()

  /// What it was opened with.
  package var configuration: SessionConfiguration { engine.configuration }

  private init(_ engine: SessionEngine) {
    self.engine = engine
  }

  /// Opens the session that the journal holds, or a new one.
  ///
  /// Creates the configuration's directory and the folders above it, with the mode 0700, if they are missing.
  /// It creates nothing if stored secrets belong to a journal that should be there: its disk may not be
  /// mounted. It throws `storage` then (`JournalError.folderMissing`). Mount the disk, or create the directory
  /// yourself to go on without that journal.
  ///
  /// It never waits for the network. A token that has expired is refreshed afterwards, and `activity` shows it.
  ///
  /// A tail of the journal that was never acknowledged is cut off, kept beside the journal, and noted in it.
  ///
  /// Throws:
  /// - `refused` if the directory is no file URL with an absolute path, or if its path leads to a file.
  /// - `storage` if the journal cannot be read or written; `underlyingError` is the cause. If it cannot be read
  ///   *yet*, ``SessionOpening`` waits for it. If it is damaged and the policy's `recovery` is `resume`,
  ///   the journal is set aside instead, and the session continues.
  /// - Requirement: RES-1, RES-3, RES-6
  public static func open(_ configuration: SessionConfiguration)
    async throws(SessionError) -> Session
  {
    let runtime = configuration.runtime()
    let began = configuration.clock.now().time
    try configuration.checkDirectory()
    try await SessionEngine.awaitJournal(configuration, runtime)
    let (engine, notes, debt) = try await runtime.result {
      () throws(SessionError) -> (SessionEngine, [SessionNote], PendingDataClearing) in
      try SessionEngine.createDirectory(configuration)
      return try SessionEngine.make(configuration, runtime)
    }
    try await engine.open(noting: notes, owing: debt, since: began)
    return Session(engine)
  }

  // MARK: Commands

  /// Gets a newer token now, whatever the life left in the current one.
  ///
  /// Any number of callers at once share one request.
  ///
  /// - Requirement: REF-2, REF-3
  @discardableResult
  public func refresh() async throws(SessionError) -> AccessToken {
    try await refresh(.manual, .always)
  }

  /// Returns the current token if it is good, else a newer one.
  ///
  /// Good is what this process knows: a logout by another one is seen a moment later (`state`).
  @discardableResult
  public func accessToken() async throws(SessionError) -> AccessToken {
    try await accessToken(validFor: .zero)
  }

  /// Returns the current token if it lives at least `minimum` more, else a newer one.
  ///
  /// Callers with different minimums share one request. A token that the server has just issued is
  /// returned even if its whole life is shorter than `minimum`. Just issued is what arrived within the last
  /// second: a later call gets a newer token again, so ask for less than the server gives.
  ///
  /// If the refresh fails, this throws why, even if the current token is still good for a while:
  /// ``currentToken`` has it.
  ///
  /// - Parameter minimum: rounded up to milliseconds; zero and less ask for a token that is not over.
  /// - Requirement: REF-15, REF-3
  @discardableResult
  public func accessToken(validFor minimum: Duration) async throws(SessionError) -> AccessToken {
    let shown = engine.view.current
    let uptime = engine.configuration.clock.now().uptime
    let least = max(1, minimum.wholeMilliseconds)
    if let token = shown.token, shown.deadline.subtractingSaturating(uptime) >= least,
      engine.use(at: uptime)
    {
      return token
    }
    return try await refresh(.manual, least > 1 ? .unlessGood(for: least) : .ifExpired)
  }

  func refresh(_ trigger: RefreshTrigger, _ need: RefreshNeed) async throws(SessionError)
    -> AccessToken
  {
    try await use()
    _ = try await engine.ask { .refresh($0, trigger, need) }
    let shown = engine.view.current
    if let token = shown.token { return token }
    if let replacement { throw replacement }
    // The session may have ended since, which is the truth by now; or another process's token
    // cannot be read yet.
    switch shown.state {
    case .authenticated: throw newerItems ?? .secretsUnavailable
    case .expired: throw .expired(shown.end)
    case .unauthenticated: throw .loggedOut(shown.end)
    }
  }

  /// Counts a use, or has the session end that was unused for too long; throws where it is over
  /// and that cannot be journaled now.
  ///
  /// - Requirement: POL-5
  func use() async throws(SessionError) {
    guard engine.view.use.isLimited else { return }
    try await engine.recordActivity()
  }

  /// Acts in another role, school or unit from now on.
  ///
  /// On every error nothing changes, with one exception: `storage` with a `SessionError` as its `underlyingError`,
  /// whose advice is not `reopen`. Then the server has responded, and it changes later, without another call.
  ///
  /// - Requirement: CTX-1
  @discardableResult
  public func switchContext(to target: ContextTarget)
    async throws(SessionError) -> ActiveContext?
  {
    try await use()
    _ = try await engine.ask(wish: .context(target)) { .switchContext($0) }
    return activeContext
  }

  /// Forgets that the last sign-in failed: `activity` is idle again.
  ///
  /// - Requirement: STA-3
  public func clearError() async {
    await engine.clearError()
  }

  /// Closes this object and the journal; the session itself goes on when it is opened again.
  ///
  /// Waits for a request that is on the wire, at most the policy's `refresh.timeout`: its answer may
  /// hold the only token that the server takes from now on. Ends every sequence of events. Closing twice
  /// does nothing. Not ended early by the task's cancellation.
  ///
  /// Does not wait for ``SessionHost/sessionEnded(_:)``. If that still runs, this returns `false`: the call
  /// goes on, and callers that wait for it receive `closed`. If the process ends before it returns, the next
  /// opening calls it again.
  ///
  /// A response that could not be stored yet is stored first. If that fails again, this throws `storage` with
  /// the advice to open again, and the journal says why, if it can be written. The object is closed also if
  /// this throws, so there is nothing to call again.
  ///
  /// - Returns: `true` if nothing goes on; `false` if a host still removes its data.
  /// - Requirement: SYN-5
  @discardableResult
  public func close() async throws(SessionError) -> Bool {
    try await engine.close()
  }

  // MARK: Events

  /// The session's events from now on: those after the last one at the moment of this call.
  public var events: SessionEvents {
    events(after: engine.hub.last)
  }

  /// The events after the record with this sequence, 0 for all that there were.
  ///
  /// History first, then the live ones, with no gap and no duplicate. Where the journal's old records
  /// gave way to a snapshot and events among them are asked for, the sequence throws
  /// ``CompactedEvents`` as the underlying error of `storage`. The events after the sequence that it names go
  /// on from there.
  public func events(after sequence: UInt64) -> SessionEvents {
    SessionEvents(
      start: sequence, hub: engine.hub,
      archive: EventArchive(journal: engine.journal, runtime: engine.runtime))
  }

  /// What the session shows, from now on: state, activity and user.
  ///
  /// - Requirement: STA-7
  public var states: SessionStates { SessionStates(hub: engine.states) }

  /// Hands events to subscribers that the journal does not have: for measuring how fast that is.
  ///
  /// Sequences must grow; those above the journal's that fall out of the buffer cannot be read back.
  @_spi(Benchmarks)
  public func publish(_ events: [RecordedEvent]) {
    engine.hub.publish(events)
  }

  // MARK: What it shows

  /// Why the last records or stored items could not be written; `nil` once they could.
  ///
  /// The session is what it was, and its token stays good: with a full disk it can be opened and used,
  /// and refreshed for as long as the journal has room in reserve (Specs/Decisions/a-full-disk.md).
  ///
  /// `storage` with `JournalError.replaced` stays: another journal is in this one's place, put there by a process that
  /// could not use it. From then on `state` is `unauthenticated`, `activity` is `replaced`, and every command
  /// throws the same error. Close this object and open the session again
  /// (Specs/Decisions/quarantine-an-unusable-journal.md).
  ///
  /// - Requirement: RES-6
  public var storageProblem: SessionError? { engine.view.current.storageProblem }

  /// The error of a session whose journal was replaced by another one; `nil` if it was not.
  var replacement: SessionError? {
    let shown = engine.view.current
    return shown.activity == .replaced ? shown.storageProblem : nil
  }

  /// That a newer version of this library wrote the stored items: this one cannot use them.
  ///
  /// - Requirement: RES-8
  private var newerItems: SessionError? {
    guard case .secrets(.newerVersion)? = storageProblem.failure else { return nil }
    return storageProblem
  }

  /// Why the journal could not be compacted when it should have been last; `nil` where it could.
  ///
  /// A session goes on all the same: the journal is as it was, and longer than it should be. It is
  /// tried again after an hour and whenever a session is opened.
  public var compactionProblem: SessionError? { engine.view.current.compactionProblem }

  /// The file that holds the journal that could not be used, if this opening set it aside; `nil` otherwise.
  ///
  /// Nothing removes the file but `Journal.delete` and the app. ``SessionWarning/journalSetAside(_:)`` in
  /// ``reports`` says why the journal could not be used.
  ///
  /// - Requirement: RES-6
  public var journalSetAside: URL? {
    engine.journalSetAside.map { URL(fileURLWithPath: $0.path) }
  }

  /// The same journal, with the cause and its last record.
  package var quarantine: JournalQuarantine? { engine.journalSetAside }

  /// The folded state; `unauthenticated` with the activity `replaced` if another journal is in the place
  /// of this object's journal.
  ///
  /// What another process appended is seen as soon as the system reports it. A file system that reports
  /// nothing, as most network file systems, is read each second.
  ///
  /// - Requirement: JRN-1
  public var state: SessionState { engine.view.current.state }

  /// Why and when a session of this journal ended last; `nil` if none did, or if the journal does not hold
  /// it any more.
  ///
  /// It stays after the user was signed out, after a restart and after a new login. `text(of:)` says it to
  /// a user.
  ///
  /// - Requirement: STA-8
  public var lastEnd: SessionEnd? { engine.view.current.lastEnd }

  /// What the process is doing for the session now.
  ///
  /// - Requirement: STA-3
  public var activity: SessionActivity { engine.view.current.activity }

  /// How many callers wait for a good token.
  package var waiterCount: Int { engine.view.current.waiterCount }

  /// Whether a user is signed in and the session has not expired.
  public var isAuthenticated: Bool { state.kind == .authenticated }

  /// The profile of the user that the session belongs to, also while expired; `nil` without one.
  public var currentUser: UserProfile? { engine.view.current.user }

  /// The current token, good or not; `nil` unless authenticated, and for a session that was unused for
  /// longer than the policy allows, whose end is about to be journaled.
  ///
  /// One that is stored, and whose event could not be journaled yet, is newer than the one that `state`
  /// names.
  ///
  /// - Requirement: POL-5, RES-6
  public var currentToken: AccessToken? {
    guard let token = engine.view.token else { return nil }
    guard engine.view.use.isLimited else { return token }
    return engine.use(at: engine.configuration.clock.now().uptime) ? token : nil
  }

  /// The role, school and unit that the user acts in; `nil` unless authenticated with a context.
  public var activeContext: ActiveContext? { state.activeContext }

  /// The role of the active context.
  public var currentUserRole: ActiveContext.Named? { activeContext?.role }

  /// What the active context permits; empty without one.
  public var currentPermissions: [String] { activeContext?.permissions ?? [] }

  /// Whether the active context grants `permission`, such as `materials:read`.
  public func isPermitted(_ permission: String) -> Bool {
    activeContext?.permits(permission) ?? false
  }

  /// Whether the current token's life is over, on a clock that wall-clock jumps do not move.
  ///
  /// `true` without a token.
  ///
  /// - Requirement: REF-8
  public var isTokenExpired: Bool {
    let shown = engine.view.current
    return shown.token == nil || engine.configuration.clock.now().uptime >= shown.deadline
  }

  /// Whether there is a refresh token to get a newer token with.
  ///
  /// `false` while the stored items cannot be read, as ``currentToken`` is `nil` then.
  public var canRefreshToken: Bool {
    let shown = engine.view.current
    return shown.token != nil && shown.state.token?.isRefreshable == true
  }
}
