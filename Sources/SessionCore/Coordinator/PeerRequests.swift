/// The open request of another process: how long this process waits for its end, and what follows if the
/// request is presumed lost.
///
/// ```
///         a request is open             its end is in the journal
///  none ────────────────────▶ waiting ──────────────────────────────────▶ none
///                                │
///                                │ its process is gone, or its lease is over
///                                ▼             the grace has passed, or another token arrived
///                           presumed lost ───────────────────────────────▶ none
/// ```
///
/// A suspended process may continue with the only token that the server still accepts. So for a while after
/// its request was presumed lost, it may be why a refresh is rejected.
///
/// A process that keeps a response which it cannot store yet has said so in the journal. While the present
/// token is good, its lease does not end, and the journal is read once a second.
///
/// - Requirement: REF-3, REF-10, REF-21
struct PeerRequests: Hashable, Sendable {
  /// How long the open request may still get a response.
  private var lease: PeerLease?
  /// Whether this process waits for the end of a request, or for a read before it sends one.
  private(set) var isWaiting = false
  /// Until when a request that was presumed lost may be why a refresh is rejected.
  private(set) var doubtEnd: Int64?
  /// The sequence of the request that is no longer waited for; 0 for none.
  ///
  /// Its process is gone, or its end could not be journaled.
  private var ended: UInt64 = 0
  /// Whether the batch of the opening presumed a request lost whose process is not proven gone.
  ///
  /// The next request is then held back before it is sent.
  private(set) var hasPresumedLostAtOpening = false

  /// Returns the request if it may still get a response; `nil` if it is not waited for.
  ///
  /// `isKept` says that its process has the response, while the present token is good.
  func running(
    _ open: OpenIntents.Request?, isKept: Bool = false, at uptime: Int64
  ) -> OpenIntents.Request? {
    guard let open, isAwaited(open), isKept || !isLeaseOver(of: open, at: uptime) else {
      return nil
    }
    return open
  }

  /// Whether the end of this open request still matters.
  func isAwaited(_ open: OpenIntents.Request) -> Bool { open.sequence != ended }

  /// Whether the wait for this request is over.
  func isLeaseOver(of open: OpenIntents.Request, at uptime: Int64) -> Bool {
    guard let lease, lease.request == open.sequence else { return false }
    return lease.isOver(at: uptime)
  }

  // MARK: Inputs

  /// Records which request the journal shows as open.
  ///
  /// Its deadline is civil time, which may jump. It is read once, when the request is first seen.
  /// From then on only the clock counts that never jumps.
  ///
  /// - Requirement: REF-8
  mutating func follow(_ open: OpenIntents.Request?, lasting: Int64, at now: ClockReading) {
    guard let open else {
      lease = nil
      return
    }
    guard lease?.request != open.sequence else { return }
    // A deadline from a clock far ahead of ours causes no wait longer than a lease.
    // A civil clock that is set forward by an hour would otherwise let every process refresh at
    // once.
    let left = open.sent.deadline.milliseconds(since: now.time)
    lease = PeerLease(
      request: open.sequence, end: now.uptime.addingSaturating(min(max(0, left), lasting)),
      at: now.uptime)
  }

  /// Waits for the end of the open request.
  mutating func wait(at uptime: Int64) -> [SessionEffect] {
    lease?.watch(at: uptime)
    return wait(until: uptime.addingSaturating(PeerLease.pause))
  }

  /// Waits before a request is sent that takes the place of a lost one.
  ///
  /// `asked` is when the last read or batch was requested. Others get more time after a stall.
  mutating func holdBack(asked: Int64, at uptime: Int64) -> [SessionEffect] {
    let isStalled = uptime.subtractingSaturating(asked) > PeerLease.longestPause
    return wait(
      until: uptime.addingSaturating(isStalled ? PeerLease.grace : PeerLease.pause))
  }

  /// Waits for the next read of the journal.
  mutating func wait(until end: Int64) -> [SessionEffect] {
    isWaiting = true
    return [.schedule(.lease, uptime: end)]
  }

  /// Records a read of the journal that was requested at `asked`.
  mutating func noteRead(asked: Int64, ended uptime: Int64) {
    lease?.noteRead(asked: asked, ended: uptime)
  }

  /// Ends the wait: the journal was read, or the session has ended.
  mutating func stopWaiting() { isWaiting = false }

  /// Stops waiting for the request of this sequence.
  mutating func giveUp(_ request: UInt64) { ended = request }

  /// Records that a batch presumes a request lost whose process may continue.
  mutating func doubtRejections(until end: Int64) { doubtEnd = end }

  /// Records whether the batch of an opening presumes such a request lost.
  mutating func notePresumedLostAtOpening(_ isPresumed: Bool) {
    hasPresumedLostAtOpening = isPresumed
  }

  /// Ends the doubt: another token arrived, or the session has ended.
  mutating func endDoubt() { doubtEnd = nil }
}

/// How long this process waits for the end of another process's request.
///
/// ```
///            watch, noteRead            a read after the end and the grace
///  watched ──────────────────▶ watched ────────────────────────────────────▶ over
///     ▲                                                                        │
///     └──────────────────── no read for longer than a pause ───────────────────┘
/// ```
///
/// A process that holds the journal's lock, or that is stopped, keeps others from journaling their
/// responses. That time does not count. A request may be presumed lost under three conditions:
/// - Its deadline has passed.
/// - The journal has been read at the pace of the poll for ``PeerLease/grace``, without a longer
///   pause.
/// - The last of these reads was requested after both, and found the request still open.
///
/// The deadline limits how long the other process needs. It does not cover time in which that process
/// could not write (`watch-the-journal-before-taking-over-a-request`).
///
/// - Requirement: REF-3, REF-10
struct PeerLease: Hashable, Sendable {
  // A process held the lock for 4 s in a slow sync, and the response of another one waited for that
  // lock. The deadline passed meanwhile, and the spent token was sent 2 ms after the lock was
  // released. Only a request that its process left open waits these two seconds, and only once.

  /// The sequence of its `requestSent`.
  let request: UInt64
  /// The deadline on the clock that never jumps, in milliseconds.
  let end: Int64
  private var state: State

  private enum State: Hashable, Sendable {
    /// The journal has been read at the pace of the poll since then. The uptimes are milliseconds.
    ///
    /// Exits: `over`, by a read after the end and the grace; `watched` again, after a longer pause.
    case watched(since: Int64, lastRead: Int64)
    /// The request may be presumed lost. Exits: `watched` again, after a longer pause.
    case over(lastRead: Int64)

    var lastRead: Int64 {
      switch self {
      case .watched(_, let lastRead), .over(let lastRead): lastRead
      }
    }
  }

  init(request: UInt64, end: Int64, at now: Int64) {
    self.request = request
    self.end = end
    state = .watched(since: now, lastRead: now)
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
    if isStale(at: now) { state = .watched(since: now, lastRead: now) }
  }

  /// Records a read that found the request open.
  mutating func noteRead(asked: Int64, ended now: Int64) {
    watch(at: now)
    switch state {
    case .watched(let since, _):
      state =
        asked >= max(end, since.addingSaturating(Self.grace))
        ? .over(lastRead: now) : .watched(since: since, lastRead: now)
    case .over:
      state = .over(lastRead: now)
    }
  }

  /// Whether the request may be presumed lost now.
  func isOver(at now: Int64) -> Bool {
    guard case .over = state else { return false }
    return !isStale(at: now)
  }

  private func isStale(at now: Int64) -> Bool {
    now.subtractingSaturating(state.lastRead) > Self.longestPause
  }
}
