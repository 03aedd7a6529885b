/// How long the current token is good, and when it is refreshed.
///
/// ```
///            changed                    timer, caller, launch             started
///  none ────────────────▶ good or expired ───────────────────▶ due ────────────────┐
///   ▲                      ▲  ▲   │                             ▲                   ▼
///   │ end                  │  │   │ the user is needed          │               requesting
///   │                      │  │   ▼                             │                   │
///   │          changed     │  │  postponed ── the user is back ─┘                   │
///   └──────────────────────┘  │                                                     │
///                             └──────────── backing off ◀──────────── failed ───────┘
/// ```
///
/// A refresh that is due starts as soon as no request is under way. All times are milliseconds on the
/// clock that never jumps.
///
/// - Requirement: REF-1, REF-14
struct TokenSchedule: Hashable, Sendable {
  /// What a caller that needs a token receives.
  enum Answer: Hashable, Sendable {
    /// The current token is sufficient.
    case current
    /// A server has just responded with this failure; no request is made before the pause has ended.
    case pausing(RequestFailure)
    /// A refresh is necessary.
    case refresh
  }

  /// When the current token expires; `Int64.min` without a token.
  private(set) var deadline = Int64.min
  /// What starts the next refresh; `nil` if none is due.
  private(set) var due: RefreshTrigger?
  /// The time for which the timer is set; `nil` if it is not set.
  private var timerEnd: Int64?
  /// The trigger of the refresh for which the timer is set.
  private var timerTrigger = RefreshTrigger.schedule
  /// The pause before the next attempt.
  private var backoff: Backoff?
  /// Whether a refresh waits until the user has authenticated to the device.
  private var awaitsPresence = false

  /// Whether the token has not expired.
  func isGood(at uptime: Int64) -> Bool { uptime < deadline }

  /// Returns what a caller receives that needs `token` at least as `need` says.
  func answer(
    _ trigger: RefreshTrigger, _ need: RefreshNeed, for token: TokenMetadata, at uptime: Int64
  ) -> Answer {
    switch need {
    case .always:
      return .refresh
    case .ifExpired, .unlessGood:
      if suffices(token, for: need.minimum, at: uptime) { return .current }
      // Many reads of an expired token must not each ask a server that has just failed. An app that
      // enters the foreground asks once.
      guard let backoff, trigger != .foreground || backoff.isForAll, uptime < backoff.end
      else { return .refresh }
      return .pausing(backoff.failure)
    case .unlessNewer(let used):
      if token.generation > used, isGood(at: uptime) { return .current }
      // The server rejected this token for many calls, and responded to their one refresh with a
      // failure.
      guard let backoff, token.generation == used, uptime < backoff.end else { return .refresh }
      return .pausing(backoff.failure)
    }
  }

  /// Whether the token is good for `minimum` more milliseconds, or arrived within the last second.
  private func suffices(_ token: TokenMetadata, for minimum: Int64, at uptime: Int64) -> Bool {
    let left = deadline.subtractingSaturating(uptime)
    let leftOfNewToken = token.lifetimeMilliseconds.subtractingSaturating(Self.shortLife)
    return isGood(at: uptime) && left >= min(minimum, leftOfNewToken)
  }

  // MARK: Inputs

  /// Records a new token and sets the timer before its expiry.
  ///
  /// If the server keeps the refresh token for a shorter time, the timer is set before the end of that.
  mutating func changed(
    to token: TokenMetadata, remaining: Int64, refreshTokenLife: Int64? = nil,
    policy: PolicyFigures, at uptime: Int64
  ) -> [SessionEffect] {
    deadline = uptime.addingSaturating(remaining)
    (backoff, due, awaitsPresence, timerEnd) = (nil, nil, false, nil)
    guard token.isRefreshable else {
      return [.cancel(.refresh), .schedule(.expiry, uptime: deadline)]
    }
    timerTrigger = .schedule
    let usual = policy.refreshTime(deadline: deadline, lifetime: token.lifetimeMilliseconds)
    // A quarter of the life, and at most five minutes: an attempt may fail, and be repeated. A life of less
    // than a minute is no reason to ask the server that often.
    let last = refreshTokenLife.flatMap { life in
      life < 60_000
        ? nil
        : deadline.subtractingSaturating(token.lifetimeMilliseconds)
          .addingSaturating(life - min(life / 4, 300_000))
    }
    guard let time = [usual, last].compactMap(\.self).min() else {
      return [.cancel(.refresh), .cancel(.expiry)]
    }
    // A server may send one token after the other with no lifetime, or nearly none. An adopted
    // token may have expired, and no server sent it just now.
    let isShort =
      token.lifetimeMilliseconds < 2 * Self.shortLife && token.generation != Generation.none.next
    let earliest = isShort ? uptime.addingSaturating(Self.shortLife) : time
    return [.cancel(.expiry), setTimer(for: max(time, earliest))]
  }

  /// Records that a token of unknown lifetime has ended.
  mutating func expire(at uptime: Int64) { deadline = min(deadline, uptime) }

  /// Makes a refresh due; one that is due already keeps its trigger.
  mutating func request(_ trigger: RefreshTrigger) {
    due = due ?? trigger
  }

  /// Makes a refresh due that takes the place of any other.
  mutating func repeatNow(_ trigger: RefreshTrigger) {
    due = trigger
  }

  private mutating func setTimer(for end: Int64) -> SessionEffect {
    timerEnd = end
    return .schedule(.refresh, uptime: end)
  }

  /// Handles the timer.
  ///
  /// Its input may have waited while another token arrived, for example from another process. That token
  /// must not be refreshed at once, so a timer before its time is only set again.
  mutating func timerFired(at uptime: Int64) -> [SessionEffect] {
    guard let timerEnd else { return [] }
    guard uptime >= timerEnd else { return [setTimer(for: timerEnd)] }
    self.timerEnd = nil
    request(timerTrigger)
    return []
  }

  /// Records that the refresh has started, or that no caller waits for it any more.
  mutating func started() { due = nil }

  /// Sets the timer for an attempt after a failure or an opening.
  ///
  /// A postponed refresh waits for this attempt: an unlock must not shorten the pause.
  mutating func begin(_ trigger: RefreshTrigger, at end: Int64) -> SessionEffect {
    (timerTrigger, awaitsPresence) = (trigger, false)
    return setTimer(for: end)
  }

  /// Postpones a timer that would fire earlier.
  mutating func wait(until start: Int64) -> [SessionEffect] {
    guard let timerEnd, timerEnd < start else { return [] }
    return [setTimer(for: start)]
  }

  /// Records what callers receive until the next attempt.
  mutating func pause(_ backoff: Backoff) {
    self.backoff = backoff
  }

  /// Postpones a refresh that needs the user; a manual one of a good token is dropped.
  mutating func postpone(_ trigger: RefreshTrigger, at uptime: Int64) {
    awaitsPresence = awaitsPresence || !isGood(at: uptime) || trigger != .manual
  }

  /// Makes a postponed refresh due: the user may have authenticated.
  mutating func presenceMayBeShown() {
    guard awaitsPresence else { return }
    awaitsPresence = false
    request(timerTrigger)
  }

  /// Ends the schedule with the session.
  mutating func stop() -> [SessionEffect] {
    self = TokenSchedule()
    return [.cancel(.refresh), .cancel(.expiry)]
  }

  /// A lifetime in milliseconds that is so short that a new token would be no better.
  private static let shortLife: Int64 = 1_000
}

/// The pause after a refresh to which a server responded with a failure.
///
/// A failure of the network causes no pause, and does not shorten one that a server requested. Two
/// consecutive requests that ended their process cause one too.
///
/// - Requirement: REF-14
struct Backoff: Hashable, Sendable {
  /// What callers receive during the pause.
  let failure: RequestFailure
  /// The end, on the clock that never jumps, in milliseconds.
  let end: Int64
  /// Whether it also holds for an app that enters the foreground.
  var isForAll = false
}

/// When a caller needs a newer token.
package enum RefreshNeed: Hashable, Sendable {
  /// In any case.
  case always
  /// If the current one has expired.
  case ifExpired
  /// If the current one expires within this number of milliseconds.
  ///
  /// A token that arrived within the last second is sufficient, even if its whole lifetime is
  /// shorter. A server that issues short-lived tokens would only send another such token.
  ///
  /// - Requirement: REF-15
  case unlessGood(for: Int64)
  /// If the server has rejected the token of this generation and there is no newer valid one.
  ///
  /// - If many calls are rejected together, the first one makes the request. The others receive its
  ///   result.
  /// - If a server responded to that request with a failure, later calls wait for the end of the
  ///   pause.
  /// - If no server responded, the next call tries at once.
  /// - Requirement: INT-2, REF-14
  case unlessNewer(than: Generation)

  /// How many milliseconds the current token must still be valid; 0 if it must only not have
  /// expired.
  var minimum: Int64 {
    if case .unlessGood(let minimum) = self { max(0, minimum) } else { 0 }
  }
}
