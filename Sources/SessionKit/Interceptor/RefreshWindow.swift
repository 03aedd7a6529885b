import SessionCore

/// The limit of refreshes that refused calls may cause within an interval.
///
/// Without it, an endpoint that refuses every token would cause one rotation per call. It applies
/// per session and process. A scheduled refresh, a manual one, and one for an expired token do not
/// count.
///
/// - Requirement: REF-13
struct RefreshWindow: Hashable, Sendable {
  /// The interval.
  let interval: Duration
  /// The maximum number of refreshes that calls may cause within the interval.
  let maximumAttempts: Int
}

/// Why a refused call caused no further refresh.
///
/// The caller received its 401.
///
/// - Requirement: REF-13
enum RefreshDenial: String, CaseIterable, Sendable {
  /// The token had just been refreshed for a refused call, and was refused again.
  case tokenIsNew = "tokenIsNew"
  /// Calls had already caused as many refreshes as the window allows.
  case tooMany = "tooMany"
}

/// The history of refused calls: the tokens that were replaced for them, and the new token that was
/// refused.
///
/// It is a value without a clock. Refusals of one token count once, since calls that are refused
/// together share one refresh.
struct RefusalHistory: Hashable, Sendable {
  // It is not in the coordinator, since only calls have this limit: it must not delay a refresh by
  // hand or by schedule. It is not in the journal, since a refusal that causes nothing changes
  // nothing. So the count is per process.

  /// Whether a call may cause a refresh, with the reason if not.
  enum Verdict: Hashable {
    case allowed
    /// The call may not.
    ///
    /// `isNews` is `true` for the first call that is denied for this token and this reason.
    case denied(RefreshDenial, isNews: Bool)
  }

  private struct Asked: Hashable {
    let generation: Generation
    let uptime: Int64
  }

  private struct Denial: Hashable {
    let generation: Generation
    let denial: RefreshDenial
  }

  /// The tokens whose replacement calls requested, oldest first.
  private var asked: [Asked] = []
  /// The new token that was refused, and when.
  private var refusedNew: Asked?
  /// The denial that a caller received last.
  private var lastDenial: Denial?
  /// The longest interval that was used so far, in milliseconds.
  ///
  /// Older entries can be removed.
  private var longest: Int64 = 0
  /// Whether a call with the session's token was accepted, or the first one was refused.
  private var isPlaceSettled = false
  /// The last long token to which a server responded.
  private var judged = Generation.none

  init() {}

  /// Records the outcome of a call with the session's token.
  ///
  /// Returns whether every call so far was refused, once.
  mutating func ended(isRefused: Bool) -> Bool {
    defer { isPlaceSettled = true }
    return isRefused && !isPlaceSettled
  }

  /// Returns whether a call that was refused this token may cause a refresh now.
  ///
  /// If so, the refresh is counted.
  mutating func ask(
    _ generation: Generation, at uptime: Int64, _ window: RefreshWindow
  ) -> Verdict {
    let interval = window.interval.milliseconds(atLeast: 0)
    longest = max(longest, interval)
    asked.removeAll { uptime.subtractingSaturating($0.uptime) >= longest }
    // The token is new only for the call that caused its refresh. A slow call that was repeated
    // with an older token says nothing about how new the current one is. If the server revokes a
    // valid token within the interval, it is replaced when the interval is over.
    if let refusedNew, refusedNew.generation == generation,
      uptime.subtractingSaturating(refusedNew.uptime) < interval
    {
      return denied(.tokenIsNew, generation)
    }
    if asked.contains(where: { $0.generation == generation }) { return .allowed }
    let recent = asked.count { uptime.subtractingSaturating($0.uptime) < interval }
    guard recent < window.maximumAttempts else { return denied(.tooMany, generation) }
    asked.append(Asked(generation: generation, uptime: uptime))
    return .allowed
  }

  /// Records that a call was refused this token right after the refresh that it had caused.
  mutating func refused(new generation: Generation, at uptime: Int64) -> Verdict {
    refusedNew = Asked(generation: generation, uptime: uptime)
    return denied(.tokenIsNew, generation)
  }

  /// Returns whether the first response to a call with a long token may refuse its length.
  ///
  /// A first response of another kind shows that the servers on the way accept the field. Later
  /// ones of these statuses concern their calls then.
  ///
  /// - Requirement: INT-5
  mutating func refusesLong(_ generation: Generation, status: Int) -> Bool {
    guard generation != judged else { return false }
    judged = generation
    return status == 400 || status == 413 || status == 431
  }

  private mutating func denied(_ denial: RefreshDenial, _ generation: Generation) -> Verdict {
    let now = Denial(generation: generation, denial: denial)
    defer { lastDenial = now }
    return .denied(denial, isNews: lastDenial != now)
  }
}
