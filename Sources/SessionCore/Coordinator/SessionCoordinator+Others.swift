/// Follows what other processes do to the session: their records and their requests.
extension SessionCoordinator {
  /// Folds another process's records and acts on them.
  mutating func followPeers(_ records: [SessionRecord], at now: ClockReading) -> [SessionEffect] {
    spareLateResponses(after: records.map(\.content))
    let before = fold.state
    let revocations = fold.intents.revocations
    var hasEnded = false
    var effects: [SessionEffect] = []
    var published: [RecordedEvent] = []
    for record in records {
      let last = fold.eventSequence
      do {
        try fold.apply(record)
        hasEnded = hasEnded || (before.token != nil && !fold.state.continues(before))
      } catch {
        // A newer version's essential record: this version cannot know what follows.
        stopped = .unusableJournal(error)
        return effects + publish(published) + stopWaiting()
      }
      if let event = record.event {
        published.append(
          RecordedEvent(sequence: record.sequence, time: record.time, event: event))
        noteEnd(event, by: nil)
      } else if fold.eventSequence > last {
        // A snapshot: others compacted the journal, and its events are no longer available.
        effects += publish(published) + [.skip(through: record.sequence)]
        published = []
      }
    }
    appLock.follow(fold.intents.lock, hasEnded: hasEnded || fold.kind != .authenticated)
    effects += publish(published) + refuseLocked()
    if fold.intents.request == nil { peers.stopWaiting() }
    followOpenRequest(at: now)
    if let token = state.token, token.generation != before.token?.generation {
      peers.endDoubt()
      doubt.noteStored(token.generation)
      // Callers that waited for the ended session must get no result of the new one.
      let left = hasEnded ? abandonEndedSession() : []
      // The user who logged in there uses the session.
      let use =
        state.continues(before) ? [] : beginUse(at: now) + beginLifetime(at: now)
      let requests = records.compactMap { $0.event?.announcedRequest }
      return left + followPeerToken(token, answering: requests, at: now) + use + effects
    }
    effects += clear(after: records.map(\.content))
    guard state.token == nil else { return effects }
    let opened = fold.intents.revocations.last { !revocations.contains($0) }
    if let opened {
      effects += takeOverRevocation(of: opened, at: now)
    } else if before.token != nil {
      effects += wipeItems()
    }
    return effects + (before.token == nil ? [] : stopWaiting())
  }

  /// Takes over another process's newer token, which all processes share.
  ///
  /// `requests` are the requests whose tokens the other process journaled. One of them can be a request
  /// of this process, if this process had stored its token.
  private mutating func followPeerToken(
    _ token: TokenMetadata, answering requests: [UInt64], at now: ClockReading
  ) -> [SessionEffect] {
    var effects: [SessionEffect] = [.reloadToken(token.generation)]
    effects += tokenChanged(token, remaining: remaining(of: token, at: now), at: now)
    if let request, request.isRefresh {
      effects += dropUnsettled(revoking: false)
      if request.unjournaled != nil, !requests.contains(request.intent) {
        noteUnusedResponse(to: request)
      }
      noteUnsentRequest()
      noteSupersededRequest(unlessIn: requests)
      self.request = nil
    }
    effects += endRecoveredReauthentication()
    return effects + resumeWaiters(.refreshed)
  }

  // MARK: Another process's request

  /// Remembers the request that a batch presumes lost; call it before the batch is folded.
  ///
  /// A suspended process may continue with the only token that the server still accepts. Until then
  /// it may be why a refresh is rejected.
  ///
  /// - Requirement: REF-3
  mutating func noteLostRequest(by durable: PendingCommit, at now: ClockReading) {
    guard let open = fold.intents.request, !opening.isOwn(open.sent),
      peers.isAwaited(open), !durable.purpose.knowsHolderIsGone,
      durable.loses(open)
    else { return }
    peers.doubtRejections(until: now.uptime.addingSaturating(policy.peerRequestGrace))
  }

  // MARK: Another process's stored token

  /// Announces a stored token that is newer than the journal.
  ///
  /// The process that stored it was stopped before it could journal it. The event that is stored
  /// with the token is journaled now. Then the pending decision is obsolete, or is made again.
  ///
  /// - Requirement: REF-7
  mutating func superseded(
    by event: SessionEvent, _ purpose: PendingCommit.Purpose, at now: ClockReading
  ) -> [SessionEffect] {
    guard let token = event.announcedToken, token.generation > fold.generation,
      state.allows(event)
    else {
      unannounceable = max(fold.generation, event.announcedToken?.generation ?? .none)
      return decideAgain(purpose, at: now)
    }
    return commit(
      [.note(.tokenRecovered(token.generation)), .event(event)], for: .recover(purpose), at: now)
  }

  /// Follows the announcement of a stored token, which all processes share.
  ///
  /// A request for a newer token, or a rejection of the previous one, is over.
  mutating func tokenRecovered(
    after durable: PendingCommit, publishing events: [RecordedEvent], at now: ClockReading
  ) -> [SessionEffect] {
    guard let token = state.token else { return publish(events) }
    // A switch that was not sent yet is sent with the new token.
    let withdrawn = request?.intent == 0 && request?.unjournaled == nil ? decideRequestAgain() : []
    let requests = durable.contents.compactMap { content -> UInt64? in
      guard case .event(let event) = content else { return nil }
      return event.announcedRequest
    }
    let effects =
      withdrawn + followPeerToken(token, answering: requests, at: now) + publish(events)
    noteSupersededFailure(of: durable)
    return effects
  }

  /// Folds what others appended, and decides again for callers that wait for another process's request.
  mutating func observed(_ records: [SessionRecord], isHolderGone: Bool, at now: ClockReading)
    -> [SessionEffect]
  {
    let effects = followPeers(records, at: now)
    if isHolderGone, let request = fold.intents.request { peers.giveUp(request.sequence) }
    peers.stopWaiting()
    return effects
  }
}

extension SessionState {
  /// Whether the same login is still active.
  fileprivate func continues(_ before: SessionState) -> Bool {
    guard case .authenticated(let session) = self, case .authenticated(let old) = before else {
      return false
    }
    return session.user == old.user && session.since == old.since && session.method == old.method
  }
}

extension SessionEvent {
  /// The request for which a token was announced; `nil` without a token or a request.
  fileprivate var announcedRequest: UInt64? {
    switch self {
    case .refreshSucceeded(let refresh): refresh.request == 0 ? nil : refresh.request
    case .contextSwitched(let change):
      change.token == nil || change.request == 0 ? nil : change.request
    case .login, .refreshFailed, .sessionExpired, .logout: nil
    }
  }
}

/// What is left of a session whose records are in another journal, to continue or to wipe.
///
/// - Requirement: RES-5
package struct OrphanedSession: Hashable, Sendable {
  /// The other journal, and why it does not continue.
  package var link: SessionNote.Continued
  /// The user of the session.
  package var user: Identifier
  /// The context of the session; `nil` if it had none.
  package var context: ActiveContext?
  /// The metadata of its newest token; `generation` is that of the other journal.
  package var token: TokenMetadata
  /// Why it has expired; `nil` if its token is stored and may be used.
  package var expired: ExpiryReason?

  /// Creates a description of an orphaned session.
  package init(
    link: SessionNote.Continued, user: Identifier, context: ActiveContext?, token: TokenMetadata,
    expired: ExpiryReason? = nil
  ) {
    self.link = link
    self.user = user
    self.context = context
    self.token = token
    self.expired = expired
  }

  /// Whether this journal continues the other one, which was quarantined.
  ///
  /// The session then continues too, with any policy.
  ///
  /// - Requirement: RES-6
  var isContinued: Bool { link.cause != .lost }
}

extension RequestNumber {
  /// The number of a response that never arrived: the stored token of an orphaned session.
  ///
  /// No request has this number.
  package static let stray = RequestNumber(0)
}

extension SessionCoordinator {
  /// Whether a session of another journal continues in this one.
  ///
  /// Only if this journal never had a token. A session that ended here must not return with the
  /// items of another journal. An expired session continues only if its user stays.
  package func takesOver(_ facts: StoredItemsReport) -> Bool {
    guard fold.kind == .unauthenticated, fold.generation == .none, let stray = facts.stray else {
      return false
    }
    if let reason = stray.expired {
      return stray.isContinued && end(of: reason) == .expires(reason, .keep)
    }
    return stray.isContinued || policy.orphanedSecrets == .adopt
  }

  /// Whether the items of a journal that continues this one belong to this journal's session.
  ///
  /// That journal took this one's place while its folder was missing. Its session goes on here if the
  /// items have the same token, or one whose event can follow. Else that journal recorded more than
  /// they show, and nothing of them is touched.
  ///
  /// - Requirement: RES-7
  package func goesOn(with facts: StoredItemsReport) -> Bool {
    guard facts.token == .present else { return true }
    if case .authenticated(let session) = state, facts.generation == session.token.generation {
      guard case .login(let login)? = facts.announcement else { return true }
      return login.user == session.user
    }
    return recovered(facts) != nil
  }

  /// Returns the records with which the orphaned session continues.
  func takenOver(_ stray: OrphanedSession) -> [SessionRecord.Content] {
    let login = SessionEvent.Login(
      user: stray.user, method: .adoption, token: stray.token, context: stray.context)
    // That a journal was quarantined is noted when this one is opened.
    let link = stray.isContinued ? [] : [SessionRecord.Content.note(.continued(stray.link))]
    return link + [.event(.login(login))] + (stray.expired.map { end(of: $0).events } ?? [])
  }

  /// Returns how a session ends that had expired in the other journal.
  ///
  /// No token, lease or time counts for it.
  private func end(of orphaned: ExpiryReason) -> SessionEnding.Verdict {
    SessionEnding(policy: policy, tokenDeadline: .min, doubtEnd: nil, uptime: 0)
      .verdict(on: .orphaned(orphaned))
  }
}
