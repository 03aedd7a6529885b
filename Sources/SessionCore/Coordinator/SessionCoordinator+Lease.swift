extension SessionCoordinator {
  /// Follows the open request that the fold shows.
  mutating func followOpenRequest(at now: ClockReading) {
    peers.follow(fold.intents.request, lasting: policy.leaseDuration, at: now)
  }

  /// Returns the request of another process that may still get a response; `nil` for none.
  func runningElsewhere(at now: ClockReading) -> OpenIntents.Request? {
    let open = fold.intents.request
    let isKept = open.map { keeps($0, isTokenGood: isTokenGood(at: now.uptime)) } ?? false
    return peers.running(open, isKept: isKept, at: now.uptime)
  }

  /// Whether another process keeps the response to its request, while the present token is good.
  ///
  /// Its own refresh token is spent: a server that accepts no refresh token twice would end the session at
  /// the second request. After the token has ended that risk is taken, since no process has a valid one.
  ///
  /// - Requirement: REF-21
  private func keeps(_ open: OpenIntents.Request, isTokenGood: Bool) -> Bool {
    open.unstored != nil && isTokenGood && !opening.isOwn(open.sent)
  }

  /// Waits for the end of another process's request; no caller waits for a response that is kept.
  mutating func awaitEnd(of open: OpenIntents.Request, at now: ClockReading) -> [SessionEffect] {
    notes.waiting()
    guard keeps(open, isTokenGood: isTokenGood(at: now.uptime)) else {
      return peers.wait(at: now.uptime)
    }
    let isDue = schedule.due != nil || !callers.isEmpty(.token)
    let told = resumeAll(.failed(.unsettled))
    if isDue { schedule.request(.retry) }
    return told
      + peers.wait(until: min(now.uptime.addingSaturating(retryPause), tokenDeadline))
  }

  /// Whether the response to a request is no longer waited for at an opening.
  ///
  /// `facts` says whether the process is gone. If that is unknown, the deadline and the grace must
  /// have passed before this process took any lock.
  func isLost(
    _ request: OpenIntents.Request, at now: ClockReading, as facts: StoredItemsReport
  ) -> Bool {
    if facts.isHolderGone { return true }
    let left = state.token.map { remaining(of: $0, as: facts, at: now) } ?? 0
    if keeps(request, isTokenGood: left > 0) { return false }
    if peers.isLeaseOver(of: request, at: now.uptime) { return true }
    guard let began = facts.began else { return false }
    return began.milliseconds(since: request.sent.deadline) >= PeerLease.grace
  }

  // MARK: A request that supersedes another one

  /// Whether the batch sends a request in place of one whose process is not proven gone.
  ///
  /// Call it before the batch is folded.
  func supersedesLostRequest(_ durable: PendingCommit) -> Bool {
    guard durable.purpose == .send else { return false }
    guard let open = fold.intents.request else { return peers.hasPresumedLostAtOpening }
    return peers.isAwaited(open) && durable.loses(open)
  }

  /// Whether the batch of an opening presumes such a request lost; the next batch may replace it.
  ///
  /// Call it before the batch is folded.
  func presumesLostAtOpening(_ durable: PendingCommit) -> Bool {
    guard case .restore(let facts) = durable.purpose else {
      return peers.hasPresumedLostAtOpening && durable.purpose != .send
    }
    guard !facts.isHolderGone, let open = fold.intents.request else { return false }
    return peers.isAwaited(open) && durable.loses(open)
  }

  /// Continues after a read of the journal for requests.
  ///
  /// The lease of another process's request goes on, and a request that was held back is sent.
  mutating func release(after barrier: ReadBarrier, at now: ClockReading) -> [SessionEffect] {
    peers.noteRead(asked: barrier.asked, ended: now.uptime)
    guard request?.isHeldBack == true else { return [] }
    guard now.uptime.subtractingSaturating(barrier.asked) <= PeerLease.longestPause else {
      return peers.holdBack(asked: barrier.asked, at: now.uptime)
    }
    request?.release()
    guard isStillCurrent else { return withdraw() }
    return send()
  }

  // MARK: Directly before the first byte

  /// Whether the shell may send the request, after its input ``SessionInput/leaving(_:)``.
  package func mayLeave(_ number: RequestNumber) -> Bool {
    request?.number == number && request?.hasLeft == true
  }

  /// Marks a request as sent, after what others appended is folded; or decides it again.
  mutating func leaving(_ number: RequestNumber) -> [SessionEffect] {
    guard let request, request.number == number else { return [] }
    guard isStillCurrent else { return withdraw() }
    self.request?.left()
    return []
  }

  /// Whether no other process presumed our request lost, or replaced its token, before it was sent.
  private var isStillCurrent: Bool {
    guard let request, request.intent != 0 else { return true }
    return fold.intents.request?.sequence == request.intent
      && request.base == state.token?.generation
  }

  /// Drops the unsent request and decides it again.
  private mutating func withdraw() -> [SessionEffect] {
    noteUnsentRequest()
    return decideRequestAgain()
  }

  /// Remembers to journal the end of a request that is dropped unsent.
  mutating func noteUnsentRequest() {
    guard let request, request.isUnsent, stopped == nil else { return }
    // Nothing was sent, so no process needs to assume that the server acted.
    let failure = RequestFailure(kind: .noConnection)
    notes.add(ending: Self.end(of: request.intent, failure))
  }

  private static func end(of request: UInt64, _ failure: RequestFailure) -> SessionNote {
    .requestEnded(SessionNote.RequestEnded(request: request, failure: failure))
  }

  /// Journals the ends of requests that no event records.
  mutating func noteEndings(at now: ClockReading) -> [SessionEffect] {
    commit(notes.endings.map(SessionRecord.Content.note), for: .endings, at: now)
  }

  mutating func endingsNoted(publishing events: [RecordedEvent]) -> [SessionEffect] {
    _ = notes.takeEndings()
    return publish(events)
  }

  // MARK: Responses after another process's token

  /// Remembers our request if another process's token supersedes it, unless that is its response.
  ///
  /// Its response is journaled. A server that saw the older token again may revoke the newer one
  /// too. Nothing else would record the cause.
  ///
  /// - Requirement: RPL-6
  mutating func noteSupersededRequest(unlessIn answered: [UInt64]) {
    // A response that waits to be stored may hold the token that was found in the store.
    guard let request, request.hasLeft, request.unjournaled == nil,
      !answered.contains(request.intent)
    else { return }
    late.supersede(request.number, intent: request.intent)
  }

  /// Notes that the response to a request is not used, if the journal shows the request as open.
  ///
  /// Otherwise every process would wait for the end of its lease.
  mutating func noteUnusedResponse(to request: TokenRequest) {
    guard stopped == nil, request.intent != 0, fold.intents.request?.sequence == request.intent
    else { return }
    notes.add(ending: .answerUnused(request.intent))
  }

  /// Notes the failure of a superseded request; a missing response is not noted.
  mutating func noteSuperseded(_ number: RequestNumber?, _ failure: RequestFailure) {
    guard let number, let intent = late.end(number).intent, stopped == nil,
      failure.kind != .noReply || failure.status != 0
    else { return }
    notes.add(ending: Self.end(of: intent, failure))
  }

  /// Handles the end of the session elsewhere, after which another one began.
  ///
  /// A response that still arrives belongs to the ended session, and its tokens are revoked.
  ///
  /// - Requirement: REF-11
  mutating func abandonEndedSession() -> [SessionEffect] {
    if let request { late.abandon(request.number) }
    return stopWaiting(.ended(.unauthenticated, by: nil), isOver: true)
  }
}
