public import SessionKit

/// Sessions by the key of an account, for a server: opened on demand, closed when idle.
///
/// At most a number of sessions is open at a time. A call that needs one more closes the session that was
/// unused for longest, or waits until a session is unused. Waiting calls get their places in the order in
/// which they came. A session that is in use can be shared at any time, so choose a limit above the
/// number of accounts that are in use at once.
///
/// All processes of a fleet may have a pool: if the logs are in one database, a session makes one refresh
/// in the whole fleet.
///
/// ```swift
/// let pool = SessionPool(limit: 200, idle: .seconds(60)) { key in
///   let place = PostgresLogPlace(key, in: database)
///   return try await Session.open(
///     SessionConfiguration(log: place, backend: backend, secrets: place.secrets))
/// }
/// let token = try await pool.with("account-17") { try await $0.accessToken() }
/// ```
///
/// - Requirement: SCL-1
public actor SessionPool {
  /// The most sessions that are open at a time.
  public nonisolated let limit: Int

  /// How long an unused session stays open.
  public nonisolated let idle: Duration

  private let make: @Sendable (String) async throws -> Session
  private let problem: @Sendable (_ key: String, _ error: SessionError) -> Void
  /// The sessions that the next call of their key gets.
  private var current: [String: PooledSession] = [:]
  /// Sessions that no new call gets, until they are closed.
  private var leaving: [ObjectIdentifier: PooledSession] = [:]
  /// How many more sessions may be open; 0 if calls wait for a place.
  private var free: Int
  /// Calls that wait for a place; they receive whether they have one.
  private var waiting = WaitingCalls<Bool>()
  private var lastCall: UInt64 = 0
  private var sweep: Task<Void, Never>?
  private var uses: UInt64 = 0
  private var isClosed = false
  private var ends: [CheckedContinuation<Void, Never>] = []

  /// Creates an empty pool.
  ///
  /// - Parameters:
  ///   - limit: the most open sessions, at least 1.
  ///   - idle: how long an unused session stays open.
  ///   - problem: receives the error of a session that could not be closed in order. Nothing is lost by
  ///     that.
  ///   - make: opens the session of a key. Its task is cancelled if no call waits for it any more.
  public init(
    limit: Int, idle: Duration = .seconds(60),
    problem: @escaping @Sendable (_ key: String, _ error: SessionError) -> Void = { _, _ in },
    open make: @escaping @Sendable (_ key: String) async throws -> Session
  ) {
    (self.limit, self.idle, free) = (max(1, limit), idle, max(1, limit))
    (self.problem, self.make) = (problem, make)
  }

  /// The number of sessions that are open, opened or closed now.
  public var count: Int { current.count + leaving.count }

  /// The number of calls that wait for a place.
  public var waitingCalls: Int { waiting.count }

  /// The number of calls that wait for an opening.
  package var callsThatOpen: Int { current.values.reduce(0) { $0 + $1.calls.count } }

  /// Calls `work` with the session of a key, which is open at least until `work` returns.
  ///
  /// Calls with one key share the session. `work` must not call the pool: at the limit it would wait for
  /// itself. A session whose log has another history afterwards, as after a failover that lost commits,
  /// is discarded.
  ///
  /// Throws what opening or `work` throws. Throws `CancellationError` if the task is cancelled before
  /// `work` begins, and ``SessionPoolClosed`` after ``close()``.
  public func with<Value: Sendable>(
    _ key: String, _ work: @Sendable (Session) async throws -> Value
  ) async throws -> Value {
    let pooled = try await take(key)
    defer { giveBack(pooled) }
    return try await work(session(of: pooled))
  }

  /// Lets no new call have the session of a key; the next call opens it again.
  ///
  /// Returns at once. The session is closed when its calls have ended. Call it if the account was deleted,
  /// or if its log was moved.
  public func discard(_ key: String) {
    if let pooled = current[key] { retire(pooled) }
  }

  /// Closes all sessions that no call uses.
  public func closeIdle() async {
    let idle = current.values.filter(\.isIdle)
    for pooled in idle { retire(pooled) }
    for pooled in idle { await pooled.closing?.value }
  }

  /// Ends the pool: refuses new and waiting calls, and returns when all sessions are closed.
  ///
  /// Waits for the calls that have a session or are opening one. Closing again waits, too.
  public func close() async {
    isClosed = true
    sweep?.cancel()
    waiting.endAll(throwing: SessionPoolClosed())
    for pooled in current.values { retire(pooled) }
    guard count > 0 else { return }
    await withCheckedContinuation { ends.append($0) }
  }
}

/// The pool was closed, so it opens no session any more.
public struct SessionPoolClosed: Error, Equatable, Sendable, CustomStringConvertible {
  /// Creates the error.
  public init() {}

  /// Says what happened, the consequence and the next step.
  public var description: String {
    "The pool of sessions was closed, as at the end of a process. Nothing was done. Use another process."
  }
}

// MARK: Places

extension SessionPool {
  /// Returns the session of a key for one more user, and begins to open it if there is none.
  private func take(_ key: String) async throws -> PooledSession {
    while true {
      try requireOpen()
      if let pooled = current[key] {
        pooled.users += 1
        return pooled
      }
      if free > 0 {
        free -= 1
        return open(key)
      }
      guard try await waitForPlace(key) else { continue }
      // The place is this call's now. It is not needed if the session has come meanwhile.
      guard !isClosed, !Task.isCancelled, current[key] == nil else {
        giveBackPlace()
        continue
      }
      return open(key)
    }
  }

  private func requireOpen() throws {
    guard !isClosed else { throw SessionPoolClosed() }
    try Task.checkCancellation()
  }

  /// Waits until the call has a place, or until the session of its key is there: then false.
  private func waitForPlace(_ key: String) async throws -> Bool {
    let number = nextNumber()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        // The pool may have changed on the way here, and nothing would wake this call any more.
        if Task.isCancelled {
          continuation.resume(throwing: CancellationError())
        } else if isClosed {
          continuation.resume(throwing: SessionPoolClosed())
        } else if current[key] != nil {
          continuation.resume(returning: false)
        } else if free > 0 {
          free -= 1
          continuation.resume(returning: true)
        } else {
          waiting.add(continuation, number, key)
          makeRoom()
        }
      }
    } onCancel: {
      Task { await self.cancel(number) }
    }
  }

  /// A number for a call that is about to wait.
  private func nextNumber() -> UInt64 {
    lastCall += 1
    return lastCall
  }

  /// Ends the wait of a call, unless it has ended already.
  private func cancel(_ number: UInt64) {
    waiting.cancel(number)
    for pooled in current.values { pooled.calls.cancel(number) }
    for pooled in leaving.values { pooled.calls.cancel(number) }
  }

  /// Closes unused sessions, one for each waiting call.
  private func makeRoom() {
    let closing = leaving.values.count { $0.closing != nil }
    for _ in 0..<max(0, waiting.count - closing) {
      let oldest = current.values.filter(\.isIdle).min { $0.lastUse < $1.lastUse }
      guard let oldest else { return }
      retire(oldest)
    }
  }

  /// Hands a place to the call that waits for longest.
  private func giveBackPlace() {
    if !waiting.endFirst(returning: true) { free += 1 }
  }
}

// MARK: Opening and closing

extension SessionPool {
  private func open(_ key: String) -> PooledSession {
    let pooled = PooledSession(key)
    current[key] = pooled
    pooled.opening = Task { [make] in
      do { opened(pooled, .success(try await make(key))) } catch {
        opened(pooled, .failure(error))
      }
    }
    // Calls that wait for a place need none if they have the same key.
    waiting.endAll(of: key, returning: false)
    return pooled
  }

  private func opened(_ pooled: PooledSession, _ result: Result<Session, any Error>) {
    pooled.opening = nil
    pooled.result = result
    switch result {
    case .success(let session):
      pooled.calls.endAll(returning: session)
      if pooled.isUnused { becameUnused(pooled) }
    case .failure(let error):
      // The next call opens it again.
      remove(pooled)
      pooled.calls.endAll(throwing: error)
    }
  }

  /// Waits for the session; a call that is cancelled does not wait for the opening.
  private func session(of pooled: PooledSession) async throws -> Session {
    if let result = pooled.result { return try result.get() }
    let number = nextNumber()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { join(pooled, number, $0) }
    } onCancel: {
      Task { await self.cancel(number) }
    }
  }

  /// Adds a call that waits for an opening.
  ///
  /// A function of the pool, because a closure that does not use `self` would not run in its isolation.
  private func join(
    _ pooled: PooledSession, _ number: UInt64,
    _ continuation: CheckedContinuation<Session, any Error>
  ) {
    // It may have been opened on the way here, and nothing would wake this call any more.
    if let result = pooled.result {
      continuation.resume(with: result)
    } else if Task.isCancelled {
      continuation.resume(throwing: CancellationError())
    } else {
      pooled.calls.add(continuation, number, pooled.key)
    }
  }

  private func giveBack(_ pooled: PooledSession) {
    uses += 1
    pooled.users -= 1
    (pooled.lastUse, pooled.unusedSince) = (uses, .now)
    if pooled.session?.activity == .replaced { retire(pooled) }
    guard pooled.isUnused else { return }
    if pooled.opening != nil {
      // No call waits for it. A later call must not receive this cancellation.
      retire(pooled)
      pooled.opening?.cancel()
    } else {
      becameUnused(pooled)
    }
  }

  private func becameUnused(_ pooled: PooledSession) {
    if leaving[ObjectIdentifier(pooled)] != nil {
      beginClosing(pooled)
    } else if pooled.session != nil {
      makeRoom()
      beginSweep()
    }
  }

  /// Lets no new call have the session, and closes it as soon as it is unused.
  private func retire(_ pooled: PooledSession) {
    guard current[pooled.key] === pooled else { return }
    current[pooled.key] = nil
    leaving[ObjectIdentifier(pooled)] = pooled
    if pooled.isUnused { beginClosing(pooled) }
  }

  private func beginClosing(_ pooled: PooledSession) {
    guard let session = pooled.session, pooled.closing == nil else { return }
    pooled.closing = Task { [problem, key = pooled.key] in
      do throws(SessionError) { try await session.close() } catch { problem(key, error) }
      remove(pooled)
    }
  }

  /// Removes a session that is closed, or that was never open.
  private func remove(_ pooled: PooledSession) {
    if current[pooled.key] === pooled {
      current[pooled.key] = nil
    } else {
      leaving[ObjectIdentifier(pooled)] = nil
    }
    giveBackPlace()
    guard isClosed, count == 0 else { return }
    for end in ends { end.resume() }
    ends = []
  }

  /// Closes what is idle for too long, as long as something is open.
  private func beginSweep() {
    guard sweep == nil, !isClosed else { return }
    sweep = Task { [weak self, idle] in
      do { try await Task.sleep(for: idle) } catch { return }
      await self?.endSweep()
    }
  }

  private func endSweep() {
    sweep = nil
    let limit = ContinuousClock.now - idle
    for pooled in current.values where pooled.isIdle && pooled.unusedSince <= limit {
      retire(pooled)
    }
    if current.values.contains(where: \.isIdle) { beginSweep() }
  }
}
