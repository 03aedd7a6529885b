public import SessionKit

/// Sessions by the key of an account, for a server: opened on demand, closed when idle.
///
/// At most a number of sessions is open at a time. A call that needs one more closes the session that was
/// unused for longest, or waits until a call ends. All processes of a fleet may have a pool: if the logs
/// are in one database, a session makes one refresh in the whole fleet.
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
  private var entries: [String: Entry] = [:]
  private var waiters: [(number: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
  private var lastWaiter: UInt64 = 0
  private var sweep: Task<Void, Never>?
  private var uses: UInt64 = 0

  /// The session of one key.
  private final class Entry {
    let opening: Task<Session, any Error>
    var users = 1
    /// The number of the last use; smaller is longer ago.
    var use: UInt64 = 0
    var unusedSince = ContinuousClock.now
    var closing: Task<Void, Never>?

    init(_ opening: Task<Session, any Error>) { self.opening = opening }

    var isIdle: Bool { users == 0 && closing == nil }
  }

  /// Creates an empty pool.
  ///
  /// - Parameters:
  ///   - limit: the most open sessions, at least 1.
  ///   - idle: how long an unused session stays open.
  ///   - problem: receives the error of a session that could not be closed in order. Nothing is lost by
  ///     that.
  ///   - make: opens the session of a key.
  public init(
    limit: Int, idle: Duration = .seconds(60),
    problem: @escaping @Sendable (_ key: String, _ error: SessionError) -> Void = { _, _ in },
    open make: @escaping @Sendable (_ key: String) async throws -> Session
  ) {
    (self.limit, self.idle) = (max(1, limit), idle)
    (self.problem, self.make) = (problem, make)
  }

  /// The number of sessions that are open, opened or closed now.
  public var count: Int { entries.count }

  /// Calls `work` with the session of a key, which is open at least until `work` returns.
  ///
  /// Calls with one key share the session. Throws what opening or `work` throws, and
  /// `CancellationError` if the task is cancelled while it waits for a place.
  public func with<Value: Sendable>(
    _ key: String, _ work: @Sendable (Session) async throws -> Value
  ) async throws -> Value {
    let entry = try await take(key)
    defer { giveBack(entry, key) }
    let session: Session
    do { session = try await entry.opening.value } catch {
      // The next call opens it again.
      if entries[key] === entry { entries[key] = nil }
      throw error
    }
    return try await work(session)
  }

  /// Closes all sessions that no call uses.
  public func closeIdle() async {
    for (key, entry) in entries where entry.isIdle { await close(entry, key) }
  }

  private func take(_ key: String) async throws -> Entry {
    while true {
      if let entry = entries[key] {
        guard let closing = entry.closing else {
          entry.users += 1
          return entry
        }
        await closing.value
        // Another call may be here first, and it must not find the entry again.
        if entries[key] === entry { entries[key] = nil }
      } else if entries.count < limit {
        let entry = Entry(Task { [make] in try await make(key) })
        entries[key] = entry
        return entry
      } else if let oldest = entries.filter({ $0.value.isIdle }).min(by: {
        $0.value.use < $1.value.use
      }) {
        await close(oldest.value, oldest.key)
      } else {
        try await waitForPlace()
      }
    }
  }

  private func waitForPlace() async throws {
    lastWaiter += 1
    let number = lastWaiter
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        if Task.isCancelled {
          continuation.resume(throwing: CancellationError())
        } else {
          waiters.append((number, continuation))
        }
      }
    } onCancel: {
      Task { await cancelWait(number) }
    }
  }

  private func cancelWait(_ number: UInt64) {
    guard let index = waiters.firstIndex(where: { $0.number == number }) else { return }
    waiters.remove(at: index).continuation.resume(throwing: CancellationError())
  }

  private func giveBack(_ entry: Entry, _ key: String) {
    uses += 1
    entry.users -= 1
    (entry.use, entry.unusedSince) = (uses, .now)
    wakeNext()
    if entry.users == 0 { beginSweep() }
  }

  private func wakeNext() {
    if !waiters.isEmpty { waiters.removeFirst().continuation.resume() }
  }

  private func close(_ entry: Entry, _ key: String) async {
    let closing = Task { [problem, opening = entry.opening] in
      do {
        let session = try await opening.value
        do throws(SessionError) { try await session.close() } catch { problem(key, error) }
      } catch {
        // It was never open.
      }
    }
    entry.closing = closing
    await closing.value
    if entries[key] === entry { entries[key] = nil }
    wakeNext()
  }

  /// Closes what is idle for too long, as long as something is open.
  private func beginSweep() {
    guard sweep == nil else { return }
    sweep = Task { [weak self, idle] in
      do { try await Task.sleep(for: idle) } catch { return }
      await self?.endSweep()
    }
  }

  private func endSweep() async {
    sweep = nil
    let limit = ContinuousClock.now - idle
    for (key, entry) in entries where entry.isIdle && entry.unusedSince <= limit {
      await close(entry, key)
    }
    if entries.contains(where: { $0.value.isIdle }) { beginSweep() }
  }
}
