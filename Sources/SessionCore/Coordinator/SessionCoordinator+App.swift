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
    guard fold.kind == .authenticated, !isTokenGood(at: now.uptime) else {
      return [.resume(caller, .current)]
    }
    // No caller waits for a token while the session is locked.
    if isLocked {
      schedule.request(.foreground)
      return [.resume(caller, .current)]
    }
    return refresh(caller, .foreground, .ifExpired, at: now)
  }

  // MARK: The host's data

  /// Lets the host clear its data after every logout, and only then.
  ///
  /// - Requirement: SYN-5
  func clear(after contents: [SessionRecord.Content]) -> [SessionEffect] {
    var debt = PendingDataClearing()
    for content in contents { debt.take(content) }
    return clear(owed: debt.reason)
  }

  func clear(owed reason: LogoutReason?) -> [SessionEffect] {
    guard opening.hostClears, stopped == nil, fold.kind == .unauthenticated, let reason else {
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

/// Closes a session object.
///
/// - Requirement: REF-11
extension SessionCoordinator {
  /// Waits for the request under way, then closes.
  ///
  /// The wait is bounded by the request's timeout. The response may hold the only token that the
  /// server accepts from then on.
  mutating func close(_ caller: Caller, at now: ClockReading) -> [SessionEffect] {
    guard stopped == nil else { return [.resume(caller, .closed)] }
    callers.add(caller, for: .close)
    return []
  }

  /// Closes, once no request is under way.
  ///
  /// A response that waits to be stored is stored first. If that fails, the journal says so in the
  /// last batch. So the next opening knows that the token was lost.
  mutating func finish(for closer: Caller, at now: ClockReading) -> [SessionEffect] {
    guard let stuck = request, let kept = stuck.unjournaled else {
      // What the journal does not know to be open needs no close.
      guard isOpen || notes.hasFinding || notes.wantsCommit else {
        return closed(closer, dropping: false)
      }
      return commit([.note(.closed)], for: .close(closer), at: now)
    }
    guard kept.failuresAtClose >= Self.triesAtClose else {
      let effects = settleAgain(at: now)
      // The response is obsolete: nothing is left to store.
      return sequencer.isDeciding && request == nil
        ? effects + finish(for: closer, at: now) : effects
    }
    guard dropsAnswer else { return commit([.note(.closed)], for: .close(closer), at: now) }
    let dropped = SessionNote.AnswerDropped(
      request: stuck.intent, cause: kept.obstacle.cause)
    var contents = [SessionRecord.Content.note(.answerDropped(dropped))]
    if let open = fold.intents.request, open.sequence == stuck.intent {
      contents.append(lost(open, at: now))
    }
    // An earlier attempt may have stored the token and still reported a failure.
    return commit(
      contents + [.note(.closed)], for: .close(closer), at: now, doubting: !closesUnread)
  }

  /// How often a waiting response is tried to be stored after a caller asked to close.
  static var triesAtClose: Int { 2 }

  /// Whether closing now loses the token of a response.
  var dropsAnswer: Bool {
    request?.unjournaled?.obstacle.isStored == false
  }

  mutating func closed(_ caller: Caller, dropping isDropping: Bool) -> [SessionEffect] {
    stopped = .closed
    let leavers = logouts.close()
    let others = callers.takeAll(.close).filter { $0 != caller }
    let reply = isDropping ? SessionEffect.Reply.failed(.dropped) : .closed
    return stopWaiting() + [.cancel(.restore), .cancel(.wipe), .cancel(.revocation)]
      + resume(leavers, .failed(.closed)) + resume([caller] + others, reply)
  }
}

extension PendingCommit {
  /// Whether the batch says that a response could not be stored.
  var dropsAnswer: Bool {
    contents.contains { if case .note(.answerDropped) = $0 { true } else { false } }
  }
}
