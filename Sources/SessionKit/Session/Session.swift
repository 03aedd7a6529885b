public import Foundation
@_spi(Internals) public import SessionCore

/// A session that is stored in a journal.
///
/// Every transition is an event, and the state is the fold of the events.
///
/// Any number of tasks can use it at the same time. Its properties, such as `state` and
/// `currentToken`, can be read on any thread without waiting. Its operations are serialized. At
/// most one token request is on the wire at a time.
public final class Session: Sendable {
  let engine: SessionEngine
  #if URLSession
  /// Carries the calls of ``data(for:as:)``.
  ///
  /// It is created for the first call.
  let sharedCalls = SharedCalls()
  #endif

  /// The configuration with which the session was opened.
  package var configuration: SessionConfiguration { engine.configuration }

  /// Why the session is still at its former place, or why something of it is; `nil` if nothing is.
  ///
  /// The next opening tries again.
  ///
  /// - Requirement: ACC-3
  public var moveProblem: SessionError? { engine.configuration.moveProblem }

  private init(_ engine: SessionEngine) {
    self.engine = engine
  }

  /// Opens the session that the journal holds, or creates a new one.
  ///
  /// If the configuration's directory or the folders above it are missing, they are created with
  /// the mode 0700. There is one exception: stored secrets may belong to a journal that should be
  /// there, for example on a disk that is not mounted. Then nothing is created, and it throws
  /// `storage` (`JournalError.folderMissing`). Mount the disk, or create the directory to continue
  /// without that journal.
  ///
  /// It never waits for the network. A token that has expired is refreshed half a second later, or
  /// at once for a caller that needs one. So a program that only reads ``state`` sends no request.
  ///
  /// If there is nothing to note, it takes no lock and writes nothing. A program that only uses a
  /// token which is still valid leaves no record.
  ///
  /// If the end of the journal was never acknowledged, it is cut off and kept in a file next to the
  /// journal. A record in the journal notes it.
  ///
  /// Throws:
  /// - `refused` if the directory is no file URL with an absolute path, or if its path leads to a
  ///   file.
  /// - `storage` if the journal cannot be read or written; `underlyingError` is the cause. If it
  ///   cannot be read *yet*, ``SessionOpening`` waits for it. If it is damaged and the policy's
  ///   `recovery` is `resume`, the journal is moved aside instead, and the session continues.
  /// - Requirement: LCH-1, RES-1, RES-3, RES-6
  public static func open(_ configuration: SessionConfiguration)
    async throws(SessionError) -> Session
  {
    do throws(SessionError) { return try await openPlaced(configuration) } catch {
      guard error.failure == .movedAway, configuration.formerPlace != nil else { throw error }
    }
    // Another process has moved it meanwhile.
    return try await openPlaced(configuration)
  }

  private static func openPlaced(_ configuration: SessionConfiguration)
    async throws(SessionError) -> Session
  {
    let runtime = configuration.runtime()
    let began = configuration.clock.now().time
    try configuration.place.check()
    let configuration = try await SessionMove.place(of: configuration, runtime)
    try await SessionEngine.awaitJournal(configuration, runtime)
    let loaded = try await SessionEngine.load(configuration, runtime)
    try await loaded.engine.open(loaded, since: began)
    return Session(loaded.engine)
  }

  // MARK: Commands

  /// Gets a newer token now, even if the current token is still valid for a long time.
  ///
  /// Any number of concurrent callers share one request.
  ///
  /// - Requirement: REF-2, REF-3
  @discardableResult
  public func refresh() async throws(SessionError) -> AccessToken {
    try await refresh(.manual, .always)
  }

  /// Returns the current token if it is valid, else a newer one.
  ///
  /// This process decides whether the token is valid. A logout by another process is seen after a
  /// short delay (`state`).
  @discardableResult
  public func accessToken() async throws(SessionError) -> AccessToken {
    try await accessToken(validFor: .zero)
  }

  /// Returns the current token if it is valid for at least `minimum`, else a newer one.
  ///
  /// Callers with different minimums share one request. A token that arrived within the last second
  /// is returned even if its whole lifetime is shorter than `minimum`. A later call would request a
  /// newer token again, so `minimum` should be less than the lifetime that the server gives.
  ///
  /// If the refresh fails, this throws its error, even if the current token is still valid for a
  /// while. ``currentToken`` is that token.
  ///
  /// - Parameter minimum: rounded up to milliseconds. For zero or less, a token that has not
  ///   expired is enough.
  /// - Requirement: REF-15, REF-3
  @discardableResult
  public func accessToken(validFor minimum: Duration) async throws(SessionError) -> AccessToken {
    let uptime = engine.configuration.clock.now().uptime
    let least = max(1, minimum.wholeMilliseconds)
    if let token = engine.view.token(validFor: least, from: uptime),
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
    _ = try await engine.askTogether { .refresh($0, trigger, need) }
    // Read alone: ten thousand callers would count the references of a whole snapshot.
    if let token = engine.view.token { return token }
    if let replacement { throw replacement }
    let shown = engine.view.current
    // The session may have ended meanwhile, and then that is the answer. Or the token of another
    // process cannot be read yet.
    switch shown.state {
    case .authenticated: throw tokenProblem ?? .secretsUnavailable
    case .expired: throw .expired(shown.end)
    case .unauthenticated: throw .loggedOut(shown.end)
    }
  }

  /// Counts a use, or ends a session that was unused for too long.
  ///
  /// Throws if the session is over and its end cannot be journaled now.
  ///
  /// - Requirement: POL-5
  func use() async throws(SessionError) {
    guard engine.view.use.isLimited else { return }
    try await engine.recordActivity()
  }

  /// Switches to another role, school or unit.
  ///
  /// After an error nothing changes, with one exception: `storage` with a `SessionError` as its
  /// `underlyingError` and an advice other than `reopen`. In this case the server has responded,
  /// and the context changes later without another call.
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

  /// Clears the error of the last sign-in, so that `activity` is idle again.
  ///
  /// - Requirement: STA-3
  public func clearError() async {
    await engine.clearError()
  }

  /// Closes this object and the journal.
  ///
  /// The session itself continues when it is opened again.
  ///
  /// It waits for a request that is on the wire, at most for the policy's `refresh.timeout`: the
  /// response may contain the only token that the server accepts from then on. Before that it
  /// waits ten seconds at most for a revocation that is under way. Calls during that wait still
  /// have an effect. A request of that revocation which has begun is then awaited too.
  ///
  /// The close ends every sequence of events. Closing twice has no further effect. Cancelling the
  /// task does not end it early.
  ///
  /// It does not wait for ``SessionHost/sessionEnded(_:)``. If that call still runs, this returns
  /// `false`. The call continues, and callers that wait for it receive `closed`. If the process
  /// ends before the call returns, the next opening repeats it.
  ///
  /// A response that could not be stored yet is stored first. If that fails again, this throws
  /// `storage` with the advice to open again. The journal then holds the reason, if it can be
  /// written. The object is closed even if this throws, so there is no need to call it again.
  ///
  /// - Returns: `true` if nothing continues; `false` if a host still removes its data.
  /// - Requirement: SYN-5
  @discardableResult
  public func close() async throws(SessionError) -> Bool {
    try await engine.close()
  }

  // MARK: Events

  /// The session's events after this call, without those before it.
  public var events: SessionEvents {
    events(after: engine.hub.last)
  }

  /// Returns the events after the record with this sequence.
  ///
  /// 0 returns all events.
  ///
  /// The sequence gives the history first, then the live events, with no gap and no duplicate. If a
  /// snapshot has replaced events that are asked for, it throws `storage` with ``CompactedEvents``
  /// as the underlying error. That error names a sequence, and the events after it can be read.
  public func events(after sequence: UInt64) -> SessionEvents {
    SessionEvents(
      start: sequence, hub: engine.hub,
      archive: EventArchive(
        log: engine.log, place: engine.configuration.place, runtime: engine.runtime))
  }

  /// What the session shows, after this call: state, activity and user.
  ///
  /// - Requirement: STA-7
  public var states: SessionStates { SessionStates(hub: engine.states) }

  /// Gives events that are not in the journal to the subscribers.
  ///
  /// Benchmarks measure the speed of that.
  ///
  /// Sequences must grow. Those above the journal's last one cannot be read again after they leave
  /// the buffer.
  @_spi(Benchmarks)
  public func publish(_ events: [RecordedEvent]) {
    engine.hub.publish(events)
  }

  // MARK: What it shows

  /// Why the last write of records, or the last read or write of stored items, failed; `nil` after
  /// it succeeded.
  ///
  /// It is `nil` while the items are only locked.
  ///
  /// The session is unchanged, and its token stays valid. With a full disk the session can still be
  /// opened and used. It is refreshed if the journal has reserved space and the secret store can
  /// reserve it (Specs/Decisions/a-full-disk.md).
  ///
  /// `storage` with `JournalError.replaced` is permanent for this object: another process could not
  /// use the journal and put a new one in its place. After that, `state` is `unauthenticated`,
  /// `activity` is `replaced`, and every command throws the same error. Close this object and open
  /// the session again (Specs/Decisions/quarantine-an-unusable-journal.md).
  ///
  /// - Requirement: RES-6
  public var storageProblem: SessionError? { engine.view.current.storageProblem }

  /// The error of a session whose journal was replaced by another one; `nil` if it was not.
  var replacement: SessionError? {
    let shown = engine.view.current
    return shown.activity == .replaced ? shown.storageProblem : nil
  }

  /// The error of a locked app, or of stored items that cannot be used; `nil` if neither keeps a token back.
  ///
  /// - Requirement: ACC-2, RES-8, LOG-13
  var tokenProblem: SessionError? {
    if engine.view.isLocked { return .appLocked }
    guard case .secrets? = storageProblem.failure else { return nil }
    return storageProblem
  }

  /// Why the last compaction that was due failed; `nil` if it succeeded.
  ///
  /// The session continues. The journal is unchanged, and longer than it should be. The session
  /// tries again after an hour and whenever it is opened.
  public var compactionProblem: SessionError? { engine.view.current.compactionProblem }

  /// The file with the journal that could not be used, if this opening moved it aside; `nil`
  /// otherwise.
  ///
  /// Only `Journal.delete` and the app remove the file. ``SessionWarning/journalSetAside(_:)`` in
  /// ``reports`` says why the journal could not be used.
  ///
  /// - Requirement: RES-6
  public var journalSetAside: URL? {
    engine.journalSetAside.map { URL(fileURLWithPath: $0.path) }
  }

  /// The same journal, with the cause and its last record.
  package var quarantine: JournalQuarantine? { engine.journalSetAside }

  /// The state that results from folding the events.
  ///
  /// If another journal has replaced this object's journal, the state is `unauthenticated` and
  /// ``activity`` is `replaced`.
  ///
  /// Events of other processes are visible as soon as the system reports the change. Most network
  /// file systems report no changes, so the journal is read each second there.
  ///
  /// - Requirement: JRN-1
  public var state: SessionState { engine.view.state }

  /// Why and when a session of this journal ended last; `nil` if none did, or if the journal no
  /// longer holds it.
  ///
  /// It stays after the user was signed out, after a restart and after a new login. `text(of:)`
  /// returns a text for users.
  ///
  /// - Requirement: STA-8
  public var lastEnd: SessionEnd? { engine.view.current.lastEnd }

  /// What the server needs the user for; `nil` if it needs no user.
  ///
  /// The server renews the session only with the user, or a call was refused without. Let the user
  /// authenticate by ``reauthenticate(_:)``. The need ends with the next token and with the session. A call
  /// that still needs the user shows it again. It survives a restart.
  ///
  /// - Requirement: STA-9
  public var userNeeded: UserNeed? {
    engine.view.current.userNeeded(at: engine.configuration.clock.now().uptime)
  }

  /// What the process is doing for the session now.
  ///
  /// - Requirement: STA-3
  public var activity: SessionActivity { engine.view.current.activity }

  /// The number of callers that wait for a valid token.
  package var waiterCount: Int { engine.view.waiterCount }

  /// Whether a user is signed in and the session has not expired.
  public var isAuthenticated: Bool { engine.view.kind == .authenticated }

  /// The profile of the session's user, even if the session has expired; `nil` if there is no user.
  ///
  /// It is the user of the newest ``SessionStatus``, for code that does not observe the session.
  public var currentUser: UserProfile? { engine.view.user }

  /// The current token, valid or not; `nil` unless authenticated, and while ``isLocked``.
  ///
  /// It is also `nil` if the session was unused for longer than the policy allows and its end is
  /// about to be journaled.
  ///
  /// A token may be stored before its event could be journaled. That token is newer than the one
  /// that `state` names.
  ///
  /// - Requirement: POL-5, RES-6
  public var currentToken: AccessToken? {
    guard let token = engine.view.token else { return nil }
    guard engine.view.use.isLimited else { return token }
    return engine.use(at: engine.configuration.clock.now().uptime) ? token : nil
  }

  /// The role, school and unit in which the user acts; `nil` unless authenticated with a context.
  public var activeContext: ActiveContext? { state.activeContext }

  /// The role of the active context.
  public var currentUserRole: ActiveContext.Named? { activeContext?.role }

  /// The permissions of the active context; empty if there is none.
  public var currentPermissions: [String] { activeContext?.permissions ?? [] }

  /// Returns whether the active context grants `permission`, such as `materials:read`.
  public func isPermitted(_ permission: String) -> Bool {
    activeContext?.permits(permission) ?? false
  }

  /// Whether the current token has expired, by a clock that changes of the wall clock do not
  /// affect.
  ///
  /// It is `true` if there is no token, and while ``isLocked``.
  ///
  /// - Requirement: REF-8
  public var isTokenExpired: Bool {
    let shown = engine.view.current
    return shown.token == nil || engine.configuration.clock.now().uptime >= shown.deadline
  }

  /// Whether there is a refresh token with which the session can get a newer token.
  ///
  /// It is `false` while the stored items cannot be read or ``isLocked``. ``currentToken`` is `nil` then.
  public var canRefreshToken: Bool {
    let shown = engine.view.current
    return shown.token != nil && shown.state.token?.isRefreshable == true
  }
}

extension Session {
  /// Asks the server for the current status of the user's account.
  ///
  /// An expired token is refreshed first. A token that the server refuses is refreshed once.
  /// `inactive` and `deleted` end the session before this returns, if the journal can be written.
  ///
  /// After an error, the session is unchanged. The errors are:
  ///
  /// - `refused` without a status if the backend has no endpoint for the profile.
  /// - `notLoggedIn`, `expired` or `loggedOut` if there is no session.
  /// - `refused` with the status 401 if the server refuses the token that was just refreshed.
  /// - The error of the request or the refresh.
  ///
  /// - Requirement: LOG-6
  @discardableResult
  public func checkAccountStatus() async throws(SessionError) -> AccountStatus {
    do throws(SessionError) {
      let token = try await refresh(.command, .ifExpired)
      if let status = try await engine.accountStatus() { return status }
      _ = try await refresh(.unauthorized, .unlessNewer(than: token.generation))
      if let status = try await engine.accountStatus() { return status }
      throw .unauthorized(code: nil)
    } catch {
      guard let status = error.accountStatus else { throw error }
      return status
    }
  }
}
