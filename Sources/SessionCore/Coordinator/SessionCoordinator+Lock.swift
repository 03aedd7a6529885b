/// Locks a session without a logout, and unlocks it (``AppLock``).
///
/// - Requirement: ACC-2
extension SessionCoordinator {
  /// Whether callers receive no token until the user has unlocked the app.
  package var isLocked: Bool { appLock.isLocked }

  /// Whether no request is started before the unlock.
  var holdsRequests: Bool { isLocked && !policy.refreshesWhileLocked }

  /// Locks at once, and journals it; the app has asked for it.
  mutating func lock(_ caller: Caller, at now: ClockReading) -> [SessionEffect] {
    guard stopped == nil, fold.kind == .authenticated else { return refuseLock(caller) }
    appLock.lock(.user)
    return noteLock(for: caller, at: now)
  }

  /// Journals a lock; if that fails, it still counts, and goes with the next batch.
  mutating func noteLock(for caller: Caller?, at now: ClockReading) -> [SessionEffect] {
    guard fold.kind == .authenticated else { return caller.map(refuseLock) ?? [] }
    // Unlocks that were asked for before the lock are void.
    let refused = refuseLocked() + resume(callers.takeAll(.unlock), .failed(.appLocked))
    guard appLock.note(after: fold.sequence) != nil else { return refused }
    return refused + commit([], for: .lock(caller), at: now)
  }

  /// Locks a session that is opened, or was unused; an opening writes nothing for it.
  mutating func lockItself(_ reason: SessionNote.LockReason, isOpening: Bool, at now: ClockReading)
    -> [SessionEffect]
  {
    guard fold.kind == .authenticated, !isLocked else { return [] }
    appLock.lock(reason)
    return isOpening ? refuseLocked() : noteLock(for: nil, at: now)
  }

  /// Refuses the callers that wait for a token or a context; a request on the wire goes on.
  mutating func refuseLocked() -> [SessionEffect] {
    isLocked ? resume(callers.takeAll(.context, .token), .failed(.appLocked)) : []
  }

  // MARK: Unlock

  /// Lets the caller check the user, unless another one does; the journal was read before.
  mutating func beginUnlock(_ caller: Caller) -> [SessionEffect] {
    guard stopped == nil, fold.kind == .authenticated else { return refuseLock(caller) }
    guard isLocked else { return [.resume(caller, .current)] }
    callers.add(caller, for: .unlock)
    return nextCheck()
  }

  /// Handles a check that failed: the next caller has its own.
  mutating func checkFailed(_ number: UInt64) -> [SessionEffect] {
    appLock.endCheck(number)
    return nextCheck()
  }

  /// Unlocks the session, unless it was locked again after the check began.
  mutating func checkPassed(_ caller: Caller, _ number: UInt64, at now: ClockReading)
    -> [SessionEffect]
  {
    appLock.endCheck(number)
    guard stopped == nil, fold.kind == .authenticated else { return refuseLock(caller) }
    guard isLocked else { return unlocked(caller, at: now) }
    guard appLock.isUnlocked(by: number) else {
      return [.resume(caller, .failed(.appLocked))] + nextCheck()
    }
    return commit([.note(.unlocked)], for: .unlock(caller, number), at: now)
  }

  /// Continues after the unlock, which is a use of the session.
  mutating func unlocked(_ caller: Caller, at now: ClockReading) -> [SessionEffect] {
    resume([caller] + callers.takeAll(.unlock), .current) + used(at: now.uptime, now)
  }

  /// Handles an unlock that could not be journaled: another process would not know of it.
  mutating func unlockFailed(_ caller: Caller) -> [SessionEffect] {
    [.resume(caller, .failed(.storage))] + nextCheck()
  }

  private mutating func nextCheck() -> [SessionEffect] {
    guard isLocked else { return resume(callers.takeAll(.unlock), .current) }
    guard !callers.isEmpty(.unlock), let number = appLock.beginCheck() else { return [] }
    return resume(callers.takeFirst(.unlock).map { [$0] } ?? [], .unlocking(number))
  }

  private func refuseLock(_ caller: Caller) -> [SessionEffect] {
    let problem =
      stopped
      ?? rejection(
        .refreshSucceeded, fold.kind == .expired ? .expired : .notAuthenticated)
    return [.resume(caller, .failed(problem))]
  }
}
