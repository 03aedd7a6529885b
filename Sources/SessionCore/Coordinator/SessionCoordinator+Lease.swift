/// How long the end of another process's request is waited for.
///
/// A process that holds the journal's lock, or that is stopped, keeps others from journaling their
/// responses. That time does not count. A request may be presumed lost under three conditions:
/// - Its deadline has passed.
/// - The journal has been read at the pace of the poll for ``PeerLease/grace``, without a longer
///   pause.
/// - The last of these reads was requested after both, and found the request still open.
/// - Requirement: REF-3, REF-10
struct PeerLease: Hashable, Sendable {
  /// The sequence of its `requestSent`.
  let request: UInt64
  /// The deadline on the clock that never jumps, in milliseconds.
  let end: Int64
  /// Since when the journal has been read at the pace of the poll.
  private var watchedSince: Int64
  /// When the last read ended.
  private var lastRead: Int64
  /// Whether the last read allows to presume the request lost.
  private var isOver = false

  init(request: UInt64, end: Int64, at now: Int64) {
    self.request = request
    self.end = end
    watchedSince = now
    lastRead = now
  }

  /// The milliseconds between two reads during the wait.
  static let pause: Int64 = 100

  /// The milliseconds between two reads above which this process counts as stalled.
  static let longestPause: Int64 = 1_000

  /// The milliseconds that others get after a stall to take the lock and journal a response.
  ///
  /// A commit that could not get the lock is tried again after one second.
  static let grace: Int64 = 2_000

  /// Begins to watch, unless it is already watched.
  mutating func watch(at now: Int64) {
    if isStale(at: now) { (watchedSince, lastRead, isOver) = (now, now, false) }
  }

  /// Records a read that found the request open.
  mutating func noteRead(asked: Int64, ended now: Int64) {
    watch(at: now)
    lastRead = now
    isOver = asked >= max(end, watchedSince.addingSaturating(Self.grace))
  }

  /// Whether the request may be presumed lost now.
  func isOver(at now: Int64) -> Bool { isOver && !isStale(at: now) }

  private func isStale(at now: Int64) -> Bool {
    now.subtractingSaturating(lastRead) > Self.longestPause
  }
}

extension SessionCoordinator {
  /// Records until when the open request may still get a response.
  ///
  /// Its deadline is civil time, which may jump. It is read once, when the request is first seen.
  /// From then on only the clock counts that never jumps.
  ///
  /// - Requirement: REF-8
  mutating func noteLease(at now: ClockReading) {
    guard let open = fold.intents.request else {
      lease = nil
      return
    }
    guard lease?.request != open.sequence else { return }
    // A deadline from a clock far ahead of ours causes no wait longer than a lease.
    let left = open.sent.deadline.milliseconds(since: now.time)
    lease = PeerLease(
      request: open.sequence,
      end: now.uptime.addingSaturating(min(max(0, left), policy.leaseDuration)), at: now.uptime)
  }

  /// Returns the request of another process that may still get a response; `nil` for none.
  func runningElsewhere(at now: ClockReading) -> OpenIntents.Request? {
    guard let open = fold.intents.request, open.sequence != givenUp else { return nil }
    return isLost(open, at: now) ? nil : open
  }

  /// Whether the response to a request is no longer waited for.
  ///
  /// At an opening, `facts` says whether the process is gone. If that is unknown, the deadline and
  /// the grace must have passed before this process took any lock.
  func isLost(
    _ request: OpenIntents.Request, at now: ClockReading, as facts: StoredItemsReport? = nil
  )
    -> Bool
  {
    if let lease, lease.request == request.sequence, lease.isOver(at: now.uptime) { return true }
    guard let facts else { return false }
    if facts.isHolderGone { return true }
    guard let began = facts.began else { return false }
    return began.milliseconds(since: request.sent.deadline) >= PeerLease.grace
  }

  mutating func waitForLease(of request: OpenIntents.Request, at now: ClockReading)
    -> [SessionEffect]
  {
    lease?.watch(at: now.uptime)
    isWaitingForLease = true
    return [.schedule(.lease, uptime: now.uptime.addingSaturating(PeerLease.pause))]
  }

  // MARK: A request that supersedes another one

  /// Whether the batch sends a request in place of one whose process is not proven gone.
  ///
  /// Call it before the batch is folded.
  func overtakes(_ durable: PendingCommit) -> Bool {
    guard durable.purpose == .send else { return false }
    guard let open = fold.intents.request else { return overtookAtOpening }
    return open.sequence != givenUp && durable.loses(open)
  }

  /// Whether the batch of an opening presumes such a request lost; the next batch may replace it.
  ///
  /// Call it before the batch is folded.
  func overtakesAtOpening(_ durable: PendingCommit) -> Bool {
    guard case .restore(let facts) = durable.purpose else {
      return overtookAtOpening && durable.purpose != .send
    }
    guard !facts.isHolderGone, let open = fold.intents.request else { return false }
    return open.sequence != givenUp && durable.loses(open)
  }

  /// Lets others take the lock before the request is sent.
  ///
  /// One of them may wait for it with the response to the request that was just presumed lost.
  mutating func holdBack(asked: Int64, at now: ClockReading) -> [SessionEffect] {
    isWaitingForLease = true
    let isStalled = now.uptime.subtractingSaturating(asked) > PeerLease.longestPause
    let pause = isStalled ? PeerLease.grace : PeerLease.pause
    return [.schedule(.lease, uptime: now.uptime.addingSaturating(pause))]
  }

  /// Continues after a read of the journal for requests.
  ///
  /// The lease of another process's request goes on, and a request that was held back is sent.
  mutating func release(after barrier: ReadBarrier, at now: ClockReading) -> [SessionEffect] {
    lease?.noteRead(asked: barrier.asked, ended: now.uptime)
    guard flight?.isHeldBack == true else { return [] }
    guard now.uptime.subtractingSaturating(barrier.asked) <= PeerLease.longestPause else {
      return holdBack(asked: barrier.asked, at: now)
    }
    flight?.isHeldBack = false
    guard isStillOurs else { return ground() }
    return send()
  }

  // MARK: Directly before the first byte

  /// Whether the shell may send the request, after its input ``SessionInput/leaving(_:)``.
  package func mayLeave(_ number: RequestNumber) -> Bool {
    flight?.number == number && flight?.hasLeft == true
  }

  /// Marks a request as sent, after what others appended is folded; or decides it anew.
  mutating func leaving(_ number: RequestNumber) -> [SessionEffect] {
    guard let flight, flight.number == number else { return [] }
    guard isStillOurs else { return ground() }
    self.flight?.hasLeft = true
    return []
  }

  /// Whether no other process presumed our request lost, or replaced its token, before it was sent.
  private var isStillOurs: Bool {
    guard let flight, flight.note != 0 else { return true }
    return fold.intents.request?.sequence == flight.note
      && flight.base == state.token?.generation
  }

  /// Drops the unsent request and decides it anew.
  private mutating func ground() -> [SessionEffect] {
    noteUnsentFlight()
    return sendAgain()
  }

  /// Remembers to journal the end of a request that is dropped unsent.
  mutating func noteUnsentFlight() {
    guard let flight, flight.isUnsent, stopped == nil else { return }
    // Nothing was sent, so no process needs to assume that the server acted.
    endings.append(Self.end(of: flight.note, RequestFailure(kind: .noConnection)))
  }

  private static func end(of request: UInt64, _ failure: RequestFailure) -> SessionNote {
    .requestEnded(SessionNote.RequestEnded(request: request, failure: failure))
  }

  /// Journals the ends of requests that no event records.
  mutating func noteEndings(at now: ClockReading) -> [SessionEffect] {
    commit(endings.map(SessionRecord.Content.note), for: .endings, at: now)
  }

  mutating func endingsNoted(publishing events: [RecordedEvent]) -> [SessionEffect] {
    endings = []
    return publish(events)
  }

  // MARK: Responses after another process's token

  /// Remembers our request if another process's token supersedes it, unless that is its response.
  ///
  /// Its response is journaled. A server that saw the older token again may revoke the newer one
  /// too. Nothing else would record the cause.
  ///
  /// - Requirement: RPL-6
  mutating func noteOverdueFlight(unlessIn answered: [UInt64]) {
    // A response that waits to be stored may be the very token that was found in the store.
    guard let flight, flight.hasLeft, flight.unsettled == nil, !answered.contains(flight.note)
    else { return }
    late.supersede(flight.number, intent: flight.note)
  }

  /// Notes that the response to a request is not used, if the journal shows the request as open.
  ///
  /// Otherwise every process would wait for the end of its lease.
  mutating func noteUnusedResponse(to flight: TokenRequest) {
    guard stopped == nil, flight.note != 0, fold.intents.request?.sequence == flight.note
    else { return }
    endings.append(.answerUnused(flight.note))
  }

  /// Notes the failure of a superseded request; a missing response is not noted.
  mutating func noteOverdue(_ number: RequestNumber?, _ failure: RequestFailure) {
    guard let number, let intent = late.end(number).intent, stopped == nil,
      failure.kind != .noReply || failure.status != 0
    else { return }
    endings.append(Self.end(of: intent, failure))
  }

  /// Handles the end of the session elsewhere, after which another one began.
  ///
  /// A response that still arrives belongs to the ended session, and its tokens are revoked.
  ///
  /// - Requirement: REF-11
  mutating func leaveEndedSession() -> [SessionEffect] {
    if let flight { late.abandon(flight.number) }
    return stopWaiting(.ended(.unauthenticated, by: nil), isOver: true)
  }
}
