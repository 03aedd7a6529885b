@_spi(Internals) import SessionCore
import SessionJournal

/// What the session's hosts keep of its user.
///
/// - Requirement: SYN-5
extension SessionEngine {
  /// When clearing is tried again that did not work; in milliseconds after the last try.
  private static let clearingDelays: [Int64] = [1_000, 10_000, 60_000]

  /// Has the hosts clear their data, after the calls that are under way.
  func clearLocalData(_ reason: LogoutReason) {
    guard configuration.hasLocalData else { return }
    clear(
      EndedSession(
        reason: reason, user: lastUser, journal: journal.identifier.asIdentifier,
        generation: coordinator.fold.generation))
  }

  /// Has the hosts that tell sign-ins apart let go of a session, after whose end a user has signed in.
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

  /// Whether the host is clearing its data, or is about to.
  var isClearing: Bool { !clearing.isEmpty }

  /// Milliseconds that a hook whose task was cancelled gets to return, before the callers that wait for it
  /// receive an error.
  private static let cancellationGrace: Int64 = 1_000

  /// Begins to count the time that the hook may take, if it has a limit.
  private func beginLimit(of number: Int) {
    guard let limit = configuration.clearingLimit else { return }
    let clock = configuration.clock
    // More than a year is as good as none.
    let milliseconds = min(limit, .seconds(31_536_000)).milliseconds(atLeast: 0)
    let end = clock.now().uptime.addingSaturating(milliseconds)
    clearingLimit = runtime.spawn { [weak self] in
      do {
        try await clock.sleep(untilUptime: end)
        await self?.cancelClearing(number)
        try await clock.sleep(untilUptime: end.addingSaturating(Self.cancellationGrace))
      } catch {
        // It has returned.
        return
      }
      await self?.giveUpClearing(number)
    }
  }

  private func cancelClearing(_ number: Int) {
    clearing[number]?.cancel()
  }

  /// The hook runs on though its task was cancelled.
  ///
  /// What it clears counts as not cleared until it returns,
  /// and no user signs in: it may remove what is the new user's.
  private func giveUpClearing(_ number: Int) {
    guard clearing[number] != nil else { return }
    isClearingOverdue = true
    for number in clearingWaits.keys { endWait(number, .clearingLocalData) }
  }

  /// What could not be cleared stays owed: in the journal for the next opening, and here.
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

  /// Tries again what could not be cleared.
  private func clearAgain() {
    guard !isClearing, !isClosing, lost == nil, let owed = owedClearing else { return }
    owedClearing = nil
    clear(owed)
  }

  /// The same; if a host could not clear its data and `tryingAgain` is `true`, it tries again first.
  func awaitDataClearing(tryingAgain: Bool) async throws(SessionError) {
    try await awaitDataClearing()
    guard tryingAgain, needsDataClearing else { return }
    clearAgain()
    try await awaitDataClearing()
  }

  /// Returns when the hosts have cleared their data: no user signs in to data that is being removed.
  ///
  /// Throws `clearingLocalData` if that takes longer than it may, `cancelled` at once in a task that is
  /// cancelled, and `closed` if the session is closed.
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

  /// Whether the host's data, or changes, are still there that should have gone.
  var needsDataClearing: Bool { owedClearing != nil || isClearing }

  /// All is looked at here, since others may have had their turn on the way to it.
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
  /// As the hosts of a session name its journal.
  var asIdentifier: Identifier { Identifier(uuidHigh: high, low: low) }
}
