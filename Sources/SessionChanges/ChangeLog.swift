import Foundation
@_spi(Internals) public import SessionChangeQueue
@_spi(Internals) public import SessionCore
package import SessionJournal
public import SessionKit
import Synchronization

/// A durable log of the user's changes that the server has not accepted yet, in order
/// (`Specs/ChangeLog.md`).
///
/// ```swift
/// let log = try await ChangeLog.open(at: folder + "/changes.journal")
/// try await log.add(.update(task, content: json), through: session.gate)
/// let drained = try await log.drain(through: session.gate) { waiting in
///   await send(waiting.change)    // with waiting.change.key as its idempotency key
/// }
/// ```
/// Any number of tasks and several processes can use one file. Only one of them sends at a time.
///
/// - Requirement: SYN-2, SYN-3
public final class ChangeLog: Sendable {
  /// The path that was passed to `open`.
  public let path: String

  let store: ChangeStore
  private let policy: ChangePolicy
  private let limits: ChangeLogLimits
  let clock: any SessionClock
  let runtime: SessionRuntime
  private let isDraining = Mutex(false)
  /// Rings when there may be something to send.
  let bell = ChangeSignal()
  /// Whether pending changes should be sent before they are due.
  let ignoresBackoff = Mutex(false)
  private let trouble = Mutex<[Chore: ChangeLogError]>([:])
  /// The name of this object in records of what it sends.
  let sender: Identifier
  /// The identity of this opening, and what it knows of other openings.
  let presence: OpeningPresence

  private init(_ store: ChangeStore, _ setup: Setup) {
    path = store.path
    self.store = store
    (policy, limits, clock, runtime) = (setup.policy, setup.limits, setup.clock, setup.runtime)
    presence = setup.presence(store.path, setup.options, setup.clock.boot)
    let identity = presence.identity
    sender = Identifier(identity?.spelling ?? UUID().uuidString.lowercased())
  }

  /// The parameters of an opening.
  package struct Setup: Sendable {
    package var policy = ChangePolicy()
    package var limits = ChangeLogLimits()
    package var clock: any SessionClock = SystemClock()
    package var options = JournalOptions()
    package var runtime = SessionRuntime.system(on: .waiting)
    /// Creates the presence of an opening, which distinguishes it from other openings.
    package var presence = OpeningPresence.system
    /// The number of records after which the file is compacted.
    package var compactedAfter: UInt64 = 1_024

    package init() {}
  }

  /// Opens the log at `path`, or creates it in an existing folder.
  ///
  /// The file is only for this log.
  ///
  /// A damaged file is quarantined: it stays next to the log under another name, and the log
  /// continues with every change that can be read (``quarantined``). Throws a ``ChangeLogError`` if
  /// the file cannot be used for another reason: it is not a change log, a newer version wrote it,
  /// or it cannot be read or written.
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

  /// Removes the log at `path` and the files next to it that belong to it.
  ///
  /// This is a full reset: after it no scope knows any status. An object that has the log open
  /// throws `journal(.missing)` after that.
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

  /// The pending changes and dead letters, as of the last read of the file.
  ///
  /// It never waits for the disk.
  public var queue: ChangeQueue { store.last }

  /// The queue, now and after each change of it, for example for a screen that shows unsent
  /// changes.
  ///
  /// Each iterator receives the current queue first and then always the newest one. Queues in
  /// between are skipped. Changes by other processes appear with the next read of the file, for
  /// example by ``pendingCount()``. The sequence ends when the log is closed or the task is
  /// cancelled.
  ///
  /// - Requirement: SYN-6
  public var queues: some AsyncSequence<ChangeQueue, Never> & Sendable { store.shown.values }

  /// The damaged log that was quarantined when this one was opened; `nil` if there was none.
  ///
  /// - Requirement: SYN-6
  public var quarantined: QuarantinedChangeLog? { store.quarantined }

  /// Returns the number of pending changes, including those of other processes.
  ///
  /// It reads the file.
  public func pendingCount() async throws(ChangeLogError) -> Int {
    try await commit { (queue, _) throws(ChangeLogError) in ([], queue.pending.count) }
  }

  /// Why the last background task failed; `nil` if it succeeded.
  ///
  /// The tasks are clearing after a logout, holding for a logout, storing a user's status, and
  /// compaction.
  public var problem: ChangeLogError? {
    let trouble = trouble.withLock { $0 }
    return Chore.allCases.compactMap { trouble[$0] }.first
  }

  /// Tasks for which no caller waits, so that only ``problem`` reports their errors.
  ///
  /// The most serious one is first.
  enum Chore: CaseIterable {
    case clearing, leaving, status, compacting
  }

  /// Records the result of a task.
  func note(_ error: ChangeLogError?, in chore: Chore) {
    trouble.withLock { $0[chore] = error }
  }

  /// Adds a change, which is durable when the call returns.
  ///
  /// Returns the number of pending changes.
  ///
  /// Adding the same change with the same key again has no effect. The change is refused with a
  /// typed error in these cases:
  ///
  /// - The key belongs to another pending change, or to a dead letter.
  /// - The session is expired, or no user is signed in.
  /// - The user is being logged out, or was logged out and the session has not seen it yet.
  /// - Changes of another user are pending.
  /// - The log is full, or the content is too long (``ChangeLogLimits``).
  @discardableResult
  public func add(_ change: Change, through gate: SyncGate) async throws(ChangeLogError) -> Int {
    guard let pass = gate.pass else { throw gate.refusal }
    let addition = ChangeCommand.Addition(
      change, by: pass.user, through: pass.signIn, in: limits.asValues)
    let (path, presence) = (path, presence)
    defer { bell.ring() }
    return try await commit { (queue, time) throws(ChangeLogError) in
      let events = try queue.decided(.add(addition), at: time) { holder, process in
        presence.isGone(holder, process, in: path, journal: pass.signIn?.journal)
      }
      return (events, events.isEmpty ? queue.pending.count : queue.load(with: change).count)
    }
  }

  /// Discards a pending change or dismisses a dead letter.
  public func discard(_ key: Identifier) async throws(ChangeLogError) {
    defer { bell.ring() }
    try await perform(.discard(key))
  }

  /// Discards all pending changes and dead letters of every user.
  ///
  /// The scopes keep what they know of the user's status.
  ///
  /// - Requirement: OUT-3, SYN-4
  public func discardAll() async throws(ChangeLogError) {
    try await perform(.discardAll)
    await compactIfLong()
  }

  // MARK: Sending

  /// Sends pending changes in order, one at a time, while the gate is open.
  ///
  /// `send` must pass the change's key to the server, so that the server recognizes a repeated
  /// change. A change is repeated if the process dies, or the gate closes, before the change is
  /// acknowledged. Its bytes must then be the same, so a change that is encoded again needs
  /// `.sortedKeys`. `send` runs in a task that is cancelled when the gate closes.
  ///
  /// It ends at the first change that cannot be sent now, since later ones must not overtake it.
  /// Throws `drainUnderWay` if this object is sending already.
  ///
  /// - Parameters:
  ///   - gate: The gate of the session whose user made the changes.
  ///   - ignoresBackoff: Whether the first change is sent before it is due, because the user
  ///     requests it or the network is available again. A lease of another process counts
  ///     nevertheless: the drain ends with `leasedElsewhere`.
  ///   - send: Sends one change to the server, and returns the outcome.
  public func drain(
    through gate: SyncGate, ignoresBackoff: Bool = false,
    _ send: @escaping @Sendable (PendingChange) async -> SendOutcome
  ) async throws(ChangeLogError) -> DrainResult {
    // A caller of `keepSending` may be waiting for the end of this drain.
    defer { bell.ring() }
    return try await drainOnce(through: gate, ignoresBackoff: ignoresBackoff, send)
  }

  /// Sends pending changes without ringing at the end.
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

  /// Sends the first change.
  ///
  /// Returns why there is nothing more to do, or `nil` to continue.
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
      // Another process has logged the user out, and the session has not seen it yet.
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
      let events = queue.events(
        ending: key, sender: sender, outcome: outcome, policy: policy, at: time)
      return (events, events.first)
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

  /// Closes the file.
  ///
  /// Later calls throw `journal(.closed)`.
  public func close() async throws(ChangeLogError) {
    let store = store
    // A drain may still receive its response, although it cannot store the result, and a logout may
    // continue.
    if !isDraining.withLock({ $0 }), !ProcessLogoutHolds.contains(any: path) { presence.end() }
    try await runtime.result { () throws(ChangeLogError) in try store.close() }
  }

  /// Compacts the file if it is too long or holds no live entries.
  ///
  /// If compaction fails, the log is unchanged, and longer than it should be.
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

  /// Performs a command; returns whether it changed the queue.
  @discardableResult
  func perform(_ command: ChangeCommand) async throws(ChangeLogError) -> Bool {
    try await commit { (queue, time) throws(ChangeLogError) in
      let events = try queue.decided(command, at: time)
      return (events, !events.isEmpty)
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
        // The decision is durable. Only the file is longer than it should be.
        note(error, in: .compacting)
      }
      return value
    }
  }
}

extension ChangeLogLimits {
  fileprivate var asValues: ChangeLimits {
    ChangeLimits(content: Self.content, count: count, bytes: bytes)
  }
}
