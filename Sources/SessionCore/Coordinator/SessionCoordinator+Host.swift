/// Handles the app's commands around the session: unlock, foreground and clearing of its data.
extension SessionCoordinator {
  /// Reads the stored items at once; the caller reports that they are unlocked.
  ///
  /// - Requirement: LOG-5
  mutating func unlock(_ caller: Caller) -> [SessionEffect] {
    if let stopped { return [.resume(caller, .failed(stopped))] }
    guard !isRestored else { return [.resume(caller, .current)] + presenceMayBeShown() }
    callers.add(caller, for: .items)
    return [.readSecrets]
  }

  mutating func unlockEnded(_ reply: SessionEffect.Reply) -> [SessionEffect] {
    resume(callers.takeAll(.items), reply)
  }

  /// Handles the foreground, after a read of the journal.
  ///
  /// An expired token is refreshed. If it cannot be refreshed, the session ends.
  ///
  /// - Requirement: REF-2
  mutating func enterForeground(_ caller: Caller, at now: ClockReading) -> [SessionEffect] {
    if let stopped { return [.resume(caller, .failed(stopped))] }
    guard isRestored else { return [.resume(caller, .current), .readSecrets] }
    guard state.kind == .authenticated, !isTokenGood(at: now.uptime) else {
      return [.resume(caller, .current)]
    }
    return refresh(caller, .foreground, .ifExpired, at: now)
  }

  // MARK: The host's data

  /// Lets the host clear its data after every logout, and only then.
  ///
  /// - Requirement: SYN-5
  func clear(after events: [RecordedEvent]) -> [SessionEffect] {
    clear(owed: PendingDataClearing(events.lazy.map(\.event)).reason)
  }

  func clear(after records: [SessionRecord]) -> [SessionEffect] {
    var debt = PendingDataClearing()
    for record in records { debt.take(record.content) }
    return clear(owed: debt.reason)
  }

  func clear(owed reason: LogoutReason?) -> [SessionEffect] {
    guard opening.hostClears, stopped == nil, state.kind == .unauthenticated, let reason else {
      return []
    }
    return [.clearLocalData(reason)]
  }

  /// Journals that the host has cleared its data, so that a later opening does not ask again.
  mutating func cleared(at now: ClockReading) -> [SessionEffect] {
    guard stopped == nil else { return [] }
    return commit([.note(.localDataCleared)], for: .note, at: now)
  }
}
