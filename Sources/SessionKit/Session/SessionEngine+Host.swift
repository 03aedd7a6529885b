@_spi(Internals) import SessionCore
import SessionJournal

/// The calls to the session's hosts that clear what they keep of its user.
///
/// - Requirement: SYN-5
extension SessionEngine {
  /// The pauses before failed clearing is tried again, in milliseconds after the last try.
  private static let clearingDelays: [Int64] = [1_000, 10_000, 60_000]

  /// Has the hosts clear their data, after the calls that still run.
  func clearLocalData(_ reason: LogoutReason) {
    guard configuration.hasLocalData else { return }
    clear(
      EndedSession(
        reason: reason, user: lastUser, journal: journal.identifier.asIdentifier,
        generation: coordinator.fold.generation))
  }

  /// Has the hosts that can tell sign-ins apart clear a session after whose end a user has signed
  /// in.
  func clear(_ overtaken: PendingDataClearing.Overtaken) {
    guard configuration.hasSeparateData else { return }
    clear(
      EndedSession(
        reason: overtaken.reason, user: overtaken.user, journal: journal.identifier.asIdentifier,
        generation: overtaken.generation, hasLaterLogin: true))
  }

  private func clear(_ ended: EndedSession) {
    let before = clearing[clearings]
    clearings += 1
    let (number, configuration) = (clearings, configuration)
    clearing[number] = runtime.spawn { [weak self] in
      await before?.value
      await self?.beginLimit(of: number)
      let isDone = await configuration.clear(ended)
      await self?.cleared(number, isDone ? nil : ended)
    }
  }

  /// Whether a host clears its data, or is about to.
  var isClearing: Bool { !clearing.isEmpty }

  /// The time for a call to return after its task was cancelled, in milliseconds.
  ///
  /// After this time, the callers that wait for the call receive an error.
  private static let cancellationGrace: Int64 = 1_000

  /// Starts the time limit of the call, if it has one.
  private func beginLimit(of number: Int) {
    guard let limit = configuration.clearingLimit else { return }
    let clock = configuration.clock
    // A limit of more than a year has the same effect as none.
    let milliseconds = min(limit, .seconds(31_536_000)).milliseconds(atLeast: 0)
    let end = clock.now().uptime.addingSaturating(milliseconds)
    clearingLimit = runtime.spawn { [weak self] in
      do {
        try await clock.sleep(untilUptime: end)
        await self?.cancelClearing(number)
        try await clock.sleep(untilUptime: end.addingSaturating(Self.cancellationGrace))
      } catch {
        // The call has returned.
        return
      }
      await self?.giveUpClearing(number)
    }
  }

  private func cancelClearing(_ number: Int) {
    clearing[number]?.cancel()
  }

  /// Handles a call that continues although its task was cancelled.
  ///
  /// Until it returns, its data counts as not cleared. No user can sign in, since the call may
  /// remove the new user's data.
  private func giveUpClearing(_ number: Int) {
    guard clearing[number] != nil else { return }
    isClearingOverdue = true
    for number in clearingWaits.keys { endWait(number, .clearingLocalData) }
  }

  /// Records the result of a call.
  ///
  /// Data that could not be cleared stays pending, here and in the journal.
  private func cleared(_ number: Int, _ failed: EndedSession?) {
    owedClearing = failed
    noteLaterLogin()
    clearing[number] = nil
    clearingLimit?.cancel()
    isClearingOverdue = false
    if !isClearing {
      for number in clearingWaits.keys { endWait(number, nil) }
    }
    guard failed != nil else {
      failedClearings = 0
      return feed(.cleared)
    }
    guard failedClearings < Self.clearingDelays.count else { return }
    let (clock, delay) = (configuration.clock, Self.clearingDelays[failedClearings])
    failedClearings += 1
    let due = clock.now().uptime.addingSaturating(delay)
    clearingRetry = runtime.spawn { [weak self] in
      do { try await clock.sleep(untilUptime: due) } catch { return }
      await self?.clearAgain()
    }
  }

  /// Tries again to clear what could not be cleared.
  private func clearAgain() {
    guard !isClearing, !isClosing, lost == nil, let owed = owedClearing else { return }
    owedClearing = nil
    clear(owed)
  }

  /// Returns when the hosts have cleared their data.
  ///
  /// With `tryingAgain`, a host that failed first tries again.
  func awaitDataClearing(tryingAgain: Bool) async throws(SessionError) {
    try await awaitDataClearing()
    guard tryingAgain, needsDataClearing else { return }
    clearAgain()
    try await awaitDataClearing()
  }

  /// Returns when the hosts have cleared their data, so that no user signs in to data that is being
  /// removed.
  ///
  /// - Throws: `clearingLocalData` if clearing takes longer than its limit.
  /// - Throws: `cancelled` at once, if the task is cancelled.
  /// - Throws: `closed` if the session is closed.
  func awaitDataClearing() async throws(SessionError) {
    guard isClearing else { return }
    clearingWaitCount += 1
    let number = clearingWaitCount
    let problem = await withTaskCancellationHandler {
      await withCheckedContinuation { beginWait(number, $0) }
    } onCancel: {
      spawn { $0.endWait(number, .cancelled) }
    }
    if let problem { throw problem }
  }

  /// Whether data or changes that should be cleared are still there.
  var needsDataClearing: Bool { owedClearing != nil || isClearing }

  /// Begins a wait.
  ///
  /// It checks every condition again, because other calls may have run in between.
  private func beginWait(
    _ number: UInt64, _ continuation: CheckedContinuation<SessionError?, Never>
  ) {
    clearingWaits[number] = continuation
    if !isClearing { return endWait(number, nil) }
    if isClosing { return endWait(number, .closed) }
    if isClearingOverdue { return endWait(number, .clearingLocalData) }
    if Task.isCancelled { endWait(number, .cancelled) }
  }

  /// Ends the wait of every caller that waits for a host, with `closed`.
  func stopClearingWaits() {
    isClosing = true
    clearingRetry?.cancel()
    for number in clearingWaits.keys { endWait(number, .closed) }
  }

  private func endWait(_ number: UInt64, _ problem: SessionError?) {
    clearingWaits.removeValue(forKey: number)?.resume(returning: problem)
  }
}

extension JournalIdentifier {
  /// The journal's identifier in the form that the hosts receive.
  var asIdentifier: Identifier { Identifier(uuidHigh: high, low: low) }
}
