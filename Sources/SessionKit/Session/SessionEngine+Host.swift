import SessionCore

/// The host's local data (SYN-5).
extension SessionEngine {
  /// Has the host clear its data, after whatever it is clearing already.
  func clearLocalData(_ reason: LogoutReason) {
    guard let clear = configuration.clearLocalData else { return }
    let before = clearing
    clearings += 1
    let number = clearings
    clearing = runtime.spawn { [weak self] in
      await before?.value
      await clear(reason)
      await self?.cleared(number)
    }
  }

  private func cleared(_ number: Int) {
    if number == clearings {
      clearing = nil
      for number in clearingWaits.keys { endWait(number, nil) }
    }
    feed(.cleared)
  }

  /// Returns when the host has cleared its data, where it is at it: nobody signs in to what is going.
  ///
  /// Throws `cancelled` at once in a task that is cancelled, and `closed` where the session is closed.
  func untilCleared() async throws(SessionError) {
    guard clearing != nil else { return }
    clearingWaitCount += 1
    let number = clearingWaitCount
    let problem = await withTaskCancellationHandler {
      await withCheckedContinuation { beginWait(number, $0) }
    } onCancel: {
      spawn { $0.endWait(number, .cancelled) }
    }
    if let problem { throw problem }
  }

  /// All is looked at here, since others may have had their turn on the way to it.
  private func beginWait(
    _ number: UInt64, _ continuation: CheckedContinuation<SessionError?, Never>
  ) {
    clearingWaits[number] = continuation
    if clearing == nil { return endWait(number, nil) }
    if isClosing { return endWait(number, .closed) }
    if Task.isCancelled { endWait(number, .cancelled) }
  }

  /// Lets everybody go on who waits for the host: what they wanted comes to nothing.
  func stopClearingWaits() {
    isClosing = true
    for number in clearingWaits.keys { endWait(number, .closed) }
  }

  private func endWait(_ number: UInt64, _ problem: SessionError?) {
    clearingWaits.removeValue(forKey: number)?.resume(returning: problem)
  }
}
