import Foundation
@_spi(Internals) public import SessionChangeQueue
@_spi(Internals) public import SessionCore
package import SessionJournal
public import SessionKit
import Synchronization

/// What the user did and the server does not know yet: durable, in order, sent when it may be (`Specs/ChangeLog.md`).
///
/// ```swift
/// let log = try await ChangeLog.open(at: folder + "/changes.journal")
/// try await log.add(.update(task, content: json), through: session.gate)
/// let drained = try await log.drain(through: session.gate) { waiting in
///   await send(waiting.change)    // with waiting.change.key as its idempotency key
/// }
/// ```
/// Any number of tasks, and several processes, may use one file; one of them sends at a time.
///
/// - Requirement: SYN-2, SYN-3
public final class ChangeLog: Sendable {
  /// The path that was given to open.
  public let path: String

  let store: ChangeStore
  private let policy: ChangePolicy
  private let limits: ChangeLogLimits
  let clock: any SessionClock
  let runtime: SessionRuntime
  private let isDraining = Mutex(false)
  /// Rings when there may be something to send.
  let bell = ChangeSignal()
  /// Whether what waits is to be sent before it is due.
  let ignoresBackoff = Mutex(false)
  private let trouble = Mutex<[Chore: ChangeLogError]>([:])
  /// Names this object in what it sends.
  let sender: Identifier
  /// Which opening this is, and what it knows of others.
  let presence: OpeningPresence

  private init(_ store: ChangeStore, _ setup: Setup) {
    path = store.path
    self.store = store
    (policy, limits, clock, runtime) = (setup.policy, setup.limits, setup.clock, setup.runtime)
    presence = setup.presence(store.path, setup.options, setup.clock.boot)
    let identity = presence.identity
    sender = Identifier(identity?.spelling ?? UUID().uuidString.lowercased())
  }

  /// How a log is opened.
  package struct Setup: Sendable {
    package var policy = ChangePolicy()
    package var limits = ChangeLogLimits()
    package var clock: any SessionClock = SystemClock()
    package var options = Journal.Options()
    package var runtime = SessionRuntime.system()
    /// How an opening is told from others.
    package var presence = OpeningPresence.system
    /// After how many records the file is compacted.
    package var compactedAfter: UInt64 = 1_024

    package init() {}
  }

  /// Opens the log at `path`, a file of its own, or creates it in a folder that is there.
  ///
  /// A damaged file is quarantined: it stays beside the log under another name, and the log goes on with every
  /// change that can be read (``quarantined``). Throws a ``ChangeLogError`` if the file cannot be used for
  /// another reason: it is not a change log, a newer version wrote it, or it cannot be read or written.
  public static func open(
    at path: String, policy: ChangePolicy = ChangePolicy(),
    limits: ChangeLogLimits = ChangeLogLimits(), clock: (any SessionClock)? = nil
  ) async throws(ChangeLogError) -> ChangeLog {
    var setup = Setup()
    (setup.policy, setup.limits, setup.clock) = (policy, limits, clock ?? SystemClock())
    return try await open(at: path, setup)
  }

  package static func open(at path: String, _ setup: Setup) async throws(ChangeLogError)
    -> ChangeLog
  {
    let store = try await setup.runtime.result { () throws(ChangeLogError) in
      try ChangeStore.open(path, setup)
    }
    let log = ChangeLog(store, setup)
    await log.compactIfLong()
    return log
  }

  /// Removes the log at `path` and all beside it that is its own.
  ///
  /// A full reset: after it no scope knows any status. Whoever has it open gets
  /// `journal(.missing)` from then on.
  ///
  /// - Requirement: SYN-4
  public static func remove(at path: String) async throws(ChangeLogError) {
    let setup = Setup()
    try await setup.runtime.result { () throws(ChangeLogError) in
      do throws(JournalError) {
        try Journal.delete(at: path, options: setup.options)
      } catch {
        throw .journal(error)
      }
    }
  }

  // MARK: What waits

  /// What waits and what was given up, as of the last read of the file; never waits for the disk.
  public var queue: ChangeQueue { store.last }

  /// The queue, now and after each change of it; for a screen that shows what is not sent yet.
  ///
  /// Each iterator receives the current queue first and then always the newest one: queues in between are
  /// skipped. Changes by other processes appear with the next read of the file, for example by
  /// ``pendingCount()``. The sequence ends when the log is closed or the task is cancelled.
  ///
  /// - Requirement: SYN-6
  public var queues: some AsyncSequence<ChangeQueue, Never> & Sendable { store.shown.values }

  /// The damaged log that was quarantined when this one was opened; `nil` if there was none.
  ///
  /// - Requirement: SYN-6
  public var quarantined: QuarantinedChangeLog? { store.quarantined }

  /// How many changes wait, by a look at the file: also those that other processes added.
  public func pendingCount() async throws(ChangeLogError) -> Int {
    try await commit { (queue, _) throws(ChangeLogError) in ([], queue.pending.count) }
  }

  /// Why clearing at a logout, keeping a user's status, or compacting did not work last; `nil` where it did.
  public var problem: ChangeLogError? {
    let trouble = trouble.withLock { $0 }
    return Chore.allCases.compactMap { trouble[$0] }.first
  }

  /// What nobody waits for, and so is told by ``problem`` alone; the gravest first.
  enum Chore: CaseIterable {
    case clearing, leaving, status, compacting
  }

  /// Notes how a chore went.
  func note(_ error: ChangeLogError?, in chore: Chore) {
    trouble.withLock { $0[chore] = error }
  }

  /// Takes a change in: it is durable when the call returns.
  ///
  /// Returns how many wait then. The same change with the same key is no second one; with a key that waits
  /// already for something else, or was given up, it is refused. Refused with a typed error too while the
  /// session is expired, nobody is signed in or the user is being logged out, also where the session has not
  /// seen that yet, where another user's changes wait, and where the log is full (``ChangeLogLimits``).
  @discardableResult
  public func add(_ change: Change, through gate: SyncGate) async throws(ChangeLogError) -> Int {
    guard let pass = gate.pass else { throw gate.refusal }
    let user = pass.user
    guard change.contentSize <= ChangeLogLimits.content else {
      throw .contentTooLong(bytes: change.contentSize, limit: ChangeLogLimits.content)
    }
    let (path, limits, presence) = (path, limits, presence)
    defer { bell.ring() }
    return try await commit { (queue, time) throws(ChangeLogError) in
      let pending = queue.pending
      if let same = pending.first(where: { $0.change.key == change.key }) {
        guard same.change.isMade(of: change) else { throw .keyInUse(change.key) }
        return ([], pending.count)
      }
      guard !queue.failures.contains(where: { $0.change.key == change.key }) else {
        throw .givenUp(change.key)
      }
      try queue.check(pass, at: time, in: path, by: presence)
      guard queue.owner ?? user == user else { throw .othersChanges(pending.count) }
      let (count, bytes) = (pending.count, queue.pendingBytes)
      let (failed, failedBytes) = (queue.failures.count, queue.failureBytes)
      let after = queue.load(with: change)
      let isMore = after.count > count || after.bytes > bytes
      guard
        !isMore
          || (after.count + failed <= limits.count && after.bytes + failedBytes <= limits.bytes)
      else { throw .full(count: count + failed, bytes: bytes + failedBytes) }
      var events = [ChangeEvent.added(.init(user: user, change: change))]
      if let signIn = pass.signIn, signIn != queue.author { events.insert(.addedBy(signIn), at: 0) }
      return (events, after.count)
    }
  }

  /// Takes back a change that waits, or forgets one that was given up.
  public func discard(_ key: Identifier) async throws(ChangeLogError) {
    defer { bell.ring() }
    try await commit { (_, _) throws(ChangeLogError) in
      ([.discarded(.init(key: key, cause: .app))], ())
    }
  }

  /// Takes back all that waits and forgets all that was given up, whoever's it is.
  ///
  /// What scopes know of the user's status stays.
  ///
  /// - Requirement: OUT-3, SYN-4
  public func discardAll() async throws(ChangeLogError) {
    try await commit { (queue, _) throws(ChangeLogError) in
      (queue.unsentCount == 0 ? [] : [.discarded(.init(cause: .app))], ())
    }
    await compactIfLong()
  }

  // MARK: Sending

  /// Sends what waits: in order, one at a time, while the gate is open.
  ///
  /// `send` must give the change's key to the server, which by it knows a change that comes again: where
  /// the process dies, or the gate closes, between sending and acknowledging, it does. What is sent with a
  /// key must then be the same: what is encoded anew needs `.sortedKeys`. `send` runs in a
  /// task that is cancelled when the gate closes. Ends at the first change that cannot be done now:
  /// those behind it must not overtake it. Throws `drainUnderWay` where this object sends already.
  ///
  /// - Parameter ignoresBackoff: whether the first change is sent though it is not due yet: the user wants it now, or
  ///   the network is back. Another process that is sending it is waited for even so.
  public func drain(
    through gate: SyncGate, ignoresBackoff: Bool = false,
    _ send: @escaping @Sendable (PendingChange) async -> SendOutcome
  ) async throws(ChangeLogError) -> DrainResult {
    // Who sends all the time has waited for it.
    defer { bell.ring() }
    return try await drainOnce(through: gate, ignoresBackoff: ignoresBackoff, send)
  }

  /// The same, and wakes nobody.
  func drainOnce(
    through gate: SyncGate, ignoresBackoff: Bool,
    _ send: @escaping @Sendable (PendingChange) async -> SendOutcome
  ) async throws(ChangeLogError) -> DrainResult {
    let isFirst = isDraining.withLock { isDraining in
      defer { isDraining = true }
      return !isDraining
    }
    guard isFirst else { throw .drainUnderWay }
    defer { isDraining.withLock { $0 = false } }
    var drained = DrainResult()
    var ending: DrainResult.Ending?
    while ending == nil {
      ending = try await step(gate, &drained, ignoresBackoff: ignoresBackoff, send)
    }
    drained.ending = ending ?? .empty
    await compactIfLong()
    return drained
  }

  /// Sends the first change; why there is nothing more to do, or `nil`.
  private func step(
    _ gate: SyncGate, _ drained: inout DrainResult, ignoresBackoff: Bool,
    _ send: @escaping @Sendable (PendingChange) async -> SendOutcome
  ) async throws(ChangeLogError) -> DrainResult.Ending? {
    if Task.isCancelled { return .cancelled }
    guard let pass = gate.pass else { return .gateClosed }
    let user = pass.user
    let (sender, presence, lease) = (
      sender, presence, policy.lease.milliseconds(atLeast: 1)
    )
    let turn = try await commit {
      (queue, time) throws(ChangeLogError) -> ([ChangeEvent], NextSend?) in
      // Logged out by another process, which the session has not seen yet.
      if let signIn = pass.signIn, queue.hasEnded(signIn) { return ([], nil) }
      let turn = queue.turn(
        of: user, sender: sender, at: time, ignoresBackoff: ignoresBackoff,
        isGone: { presence.isGone($0.identity, $0.process) })
      guard case .send(let item) = turn else { return ([], turn) }
      return (
        [
          .sent(
            .init(
              key: item.change.key, sender: sender, process: presence.process,
              deadline: time.advanced(by: lease)))
        ], turn
      )
    }
    switch turn {
    case nil: return .gateClosed
    case .nothing: return .empty
    case .othersChanges(let count): throw .othersChanges(count)
    case .waits(let until): return .waits(until: until)
    case .leasedElsewhere(let until): return .leasedElsewhere(until: until)
    case .send(let item): return try await perform(item, gate, &drained, send)
    }
  }

  private func perform(
    _ item: PendingChange, _ gate: SyncGate, _ drained: inout DrainResult,
    _ send: @escaping @Sendable (PendingChange) async -> SendOutcome
  ) async throws(ChangeLogError) -> DrainResult.Ending? {
    let outcome: SendOutcome
    do {
      outcome = try await gate.run(for: item.user) { await send(item) }
    } catch {
      try await release(item.change.key)
      return .gateClosed
    }
    let isStopped = Task.isCancelled || gate.user != item.user
    if case .notReached = outcome, isStopped {
      try await release(item.change.key)
      return Task.isCancelled ? .cancelled : .gateClosed
    }
    let (key, policy, sender) = (item.change.key, policy, sender)
    let ended = try await commit {
      (queue, time) throws(ChangeLogError) -> ([ChangeEvent], ChangeEvent?) in
      // Discarded meanwhile, or settled by another process after our lease was over.
      guard let first = queue.pending.first, first.change.key == key, first.sent?.sender == sender
      else { return ([], nil) }
      let event = outcome.event(of: first, at: time, policy)
      return ([event], event)
    }
    switch ended {
    case .acknowledged?: drained.acknowledged += 1
    case .givenUp?: drained.givenUp += 1
    case .postponed(let postponed)?: return .waits(until: postponed.retryAt)
    default: break
    }
    return nil
  }

  // MARK: The file

  /// Lets go of the file; later calls throw `journal(.closed)`.
  public func close() async throws(ChangeLogError) {
    let store = store
    // A drain may still get its answer, though it cannot write it down, and a logout may go on.
    if !isDraining.withLock({ $0 }), !ProcessLogoutHolds.contains(any: path) { presence.end() }
    try await runtime.result { () throws(ChangeLogError) in try store.close() }
  }

  /// Has a snapshot take the place of the records, where they are long or nothing of them counts any more.
  ///
  /// A log that could not be compacted is as it was, and longer than it should be.
  private func compactIfLong() async {
    let store = store
    do throws(ChangeLogError) {
      try await runtime.result { () throws(ChangeLogError) in
        guard store.isLong || store.isSpent else { return }
        try store.compact()
      }
      note(nil, in: .compacting)
    } catch {
      note(error, in: .compacting)
    }
  }

  func commit<Value: Sendable>(
    _ decide:
      @escaping @Sendable (ChangeQueue, Timestamp) throws(ChangeLogError) ->
      (events: [ChangeEvent], Value)
  ) async throws(ChangeLogError) -> Value {
    return try await runtime.result { [self] () throws(ChangeLogError) in
      let value = try store.commit(decide)
      guard store.isLong else { return value }
      do throws(ChangeLogError) {
        try store.compact()
        note(nil, in: .compacting)
      } catch {
        // What was decided is durable; the file is longer than it should be.
        note(error, in: .compacting)
      }
      return value
    }
  }
}

extension SendOutcome {
  /// What the log says of it.
  fileprivate func event(
    of item: PendingChange, at time: Timestamp, _ policy: ChangePolicy
  ) -> ChangeEvent {
    let key = item.change.key
    switch self {
    case .done: return .acknowledged(key)
    case .refused(let reason): return .givenUp(.init(key: key, cause: .refused, reason: reason))
    case .tryLater(let reason, let after):
      let failures = item.attempts < .max ? item.attempts + 1 : item.attempts
      guard failures < policy.attempts else {
        return .givenUp(.init(key: key, cause: .attemptsExhausted, reason: reason))
      }
      // More than a day is not waited for.
      let asked = after.map { min($0, .seconds(86_400)).milliseconds(atLeast: 0) }
      return .postponed(
        .init(
          key: key, isCounted: true,
          retryAt: time.advanced(by: policy.delay(after: failures, asked: asked)), reason: reason))
    case .notReached(let reason):
      return .postponed(
        .init(
          key: key, isCounted: false,
          retryAt: time.advanced(by: policy.delay(after: 1, asked: nil)), reason: reason))
    }
  }
}
