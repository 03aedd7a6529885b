/// How long another process's request is waited for.
///
/// A process that holds the journal's lock, or is stopped, keeps others from journaling their answers.
/// That time does not count. A request may be taken for lost only if
/// - its deadline has passed, and
/// - the journal was read at the pace of the poll for ``PeerLease/grace`` before that, without the lock
///   in between, and
/// - the last of these reads was asked for after both, and found the request still open.
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
  /// Whether that read allows to take the request for lost.
  private var isOver = false

  init(request: UInt64, end: Int64, at now: Int64) {
    self.request = request
    self.end = end
    watchedSince = now
    lastRead = now
  }

  /// Milliseconds between two reads while another process's request is waited for.
  static let pause: Int64 = 100

  /// Milliseconds between the ends of two reads from which on this process was stalled.
  static let longestPause: Int64 = 1_000

  /// Milliseconds that others get, after a stall, to take the lock and journal an answer: a commit
  /// that could not get the lock is tried again after a second.
  static let grace: Int64 = 2_000

  /// Begins to watch, unless that is under way.
  mutating func watch(at now: Int64) {
    if isStale(at: now) { (watchedSince, lastRead, isOver) = (now, now, false) }
  }

  /// Takes note of a read that found the request open.
  mutating func noteRead(asked: Int64, ended now: Int64) {
    watch(at: now)
    lastRead = now
    isOver = asked >= max(end, watchedSince.addingSaturating(Self.grace))
  }

  /// Whether the request may be taken for lost now.
  func isOver(at now: Int64) -> Bool { isOver && !isStale(at: now) }

  private func isStale(at now: Int64) -> Bool {
    now.subtractingSaturating(lastRead) > Self.longestPause
  }
}

extension SessionCoordinator {
  /// Takes note of how long the request that is open now may still be answered.
  ///
  /// Its deadline is civil time, which jumps. It is read once, when the request is first seen. From
  /// then on only the clock counts that never jumps.
  ///
  /// - Requirement: REF-8
  mutating func noteLease(at now: ClockReading) {
    guard let open = fold.intents.request else {
      lease = nil
      return
    }
    guard lease?.request != open.sequence else { return }
    // A deadline stamped by a clock far ahead of ours makes nobody wait longer than a lease.
    let left = open.sent.deadline.milliseconds(since: now.time)
    lease = PeerLease(
      request: open.sequence,
      end: now.uptime.addingSaturating(min(max(0, left), policy.leaseDuration)), at: now.uptime)
  }

  /// The request of another process that may still be answered, if there is one.
  func runningElsewhere(at now: ClockReading) -> OpenIntents.Request? {
    guard let open = fold.intents.request, open.sequence != givenUp else { return nil }
    return isLost(open, at: now) ? nil : open
  }

  /// Whether a request's answer is not waited for any more.
  ///
  /// At an opening, `facts` say whether its process is gone. If that is not known, the deadline must
  /// have passed, with the grace, before this process took any lock.
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

  // MARK: A request that takes another one's place

  /// Whether the batch, which is not folded yet, sends a request in the place of one whose process is
  /// not proven gone.
  func overtakes(_ durable: PendingCommit) -> Bool {
    guard durable.purpose == .send else { return false }
    guard let open = fold.intents.request else { return overtookAtOpening }
    return open.sequence != givenUp && durable.loses(open)
  }

  /// Whether the batch of an opening, which is not folded yet, takes such a request for lost; the next
  /// batch may send one in its place.
  func overtakesAtOpening(_ durable: PendingCommit) -> Bool {
    guard case .restore(let facts) = durable.purpose else {
      return overtookAtOpening && durable.purpose != .send
    }
    guard !facts.isHolderGone, let open = fold.intents.request else { return false }
    return open.sequence != givenUp && durable.loses(open)
  }

  /// Lets others have the lock before the request leaves: one of them may wait for it with the answer
  /// to the request that was just taken for lost.
  mutating func holdBack(asked: Int64, at now: ClockReading) -> [SessionEffect] {
    isWaitingForLease = true
    let isStalled = now.uptime.subtractingSaturating(asked) > PeerLease.longestPause
    let pause = isStalled ? PeerLease.grace : PeerLease.pause
    return [.schedule(.lease, uptime: now.uptime.addingSaturating(pause))]
  }

  /// What follows from a read of the journal for requests: the lease of another process's runs on, and
  /// the one that was held back leaves.
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

  /// Whether the shell may send the request: it has just said that it is about to.
  package func mayLeave(_ number: RequestNumber) -> Bool {
    flight?.number == number && flight?.hasLeft == true
  }

  /// What others appended is folded: a session that has ended has no flight any more.
  mutating func leaving(_ number: RequestNumber) -> [SessionEffect] {
    guard let flight, flight.number == number else { return [] }
    guard isStillOurs else { return ground() }
    self.flight?.hasLeft = true
    return []
  }

  /// Whether nobody took our request for lost before it was sent.
  private var isStillOurs: Bool {
    guard let flight, flight.note != 0 else { return true }
    return fold.intents.request?.sequence == flight.note
  }

  /// The request is not sent, and decided anew.
  private mutating func ground() -> [SessionEffect] {
    noteUnsentFlight()
    return sendAgain()
  }

  /// Remembers the intent of a request that is dropped before anything of it was sent.
  mutating func noteUnsentFlight() {
    guard let flight, flight.isUnsent, stopped == nil else { return }
    // Nothing was sent: nobody has to wonder what the server did with it.
    endings.append(Self.end(of: flight.note, RequestFailure(kind: .noConnection)))
  }

  private static func end(of request: UInt64, _ failure: RequestFailure) -> SessionNote {
    .requestEnded(SessionNote.RequestEnded(request: request, failure: failure))
  }

  /// Journals the ends of requests that no event tells.
  mutating func noteEndings(at now: ClockReading) -> [SessionEffect] {
    commit(endings.map(SessionRecord.Content.note), for: .endings, at: now)
  }

  mutating func endingsNoted(publishing events: [RecordedEvent]) -> [SessionEffect] {
    endings = []
    return publish(events)
  }

  // MARK: Answers that come after another process's token

  /// Remembers our request, whose place another process's token takes, unless that token is its answer.
  ///
  /// Its answer is journaled. A server that saw the older token again may revoke the newer one, too, and
  /// nothing else would say why.
  ///
  /// - Requirement: RPL-6
  mutating func noteOverdueFlight(unlessIn answered: [UInt64]) {
    // A token that waits to be stored may be the very one that was found stored.
    guard let flight, flight.hasLeft, flight.unsettled == nil, !answered.contains(flight.note)
    else { return }
    overdue[flight.number] = flight.note
  }

  /// A request was answered with a token that is not used.
  mutating func noteUnused(_ number: RequestNumber) {
    guard let note = overdue.removeValue(forKey: number), stopped == nil else { return }
    endings.append(.answerUnused(note))
  }

  /// A request failed whose place another process's token took; that nothing came says nothing new.
  mutating func noteOverdue(_ number: RequestNumber?, _ failure: RequestFailure) {
    guard let number, let note = overdue.removeValue(forKey: number), stopped == nil,
      failure.kind != .noReply || failure.status != 0
    else { return }
    endings.append(Self.end(of: note, failure))
  }

  /// The session ended elsewhere and another one began: an answer that still comes is of the one that
  /// ended, and its tokens are revoked.
  ///
  /// - Requirement: REF-11
  mutating func leaveEndedSession() -> [SessionEffect] {
    if let flight { abandoned.insert(flight.number) }
    return stopWaiting(.ended(.unauthenticated, by: nil), isOver: true)
  }
}
