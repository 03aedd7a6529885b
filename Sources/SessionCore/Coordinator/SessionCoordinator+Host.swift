/// What the app around the session does: it unlocks, comes to the foreground, and clears its data.
extension SessionCoordinator {
  /// Looks at the stored items at once: whoever could unlock them says that it is done.
  ///
  /// - Requirement: LOG-5
  mutating func unlock(_ caller: Caller) -> [SessionEffect] {
    if let stopped { return [.resume(caller, .failed(stopped))] }
    guard !isRestored else { return [.resume(caller, .current)] + presenceMayBeShown() }
    unlockers.append(caller)
    return [.readSecrets]
  }

  mutating func unlockEnded(_ reply: SessionEffect.Reply) -> [SessionEffect] {
    defer { unlockers = [] }
    return resume(unlockers, reply)
  }

  /// What others appended has been looked at; an expired token is refreshed, or the session ended that
  /// has none.
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

  /// The host's data goes with every logout, and with nothing else.
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
    guard hostClears, stopped == nil, state.kind == .unauthenticated, let reason else { return [] }
    return [.clearLocalData(reason)]
  }

  /// The host has done it: a later opening need not ask again.
  mutating func cleared(at now: ClockReading) -> [SessionEffect] {
    guard stopped == nil else { return [] }
    return commit([.note(.localDataCleared)], for: .note, at: now)
  }
}
