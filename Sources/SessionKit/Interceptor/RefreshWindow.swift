import SessionCore

/// How often refused calls may cause a refresh: so many times within an interval.
///
/// Without it, an endpoint that refuses every token would cost one rotation per call. It counts per
/// session and process. A refresh by schedule, by hand or for an expired token does not count.
///
/// - Requirement: REF-13
struct RefreshWindow: Hashable, Sendable {
  /// The interval.
  let interval: Duration
  /// How many refreshes calls may cause within it.
  let maximumAttempts: Int
}

/// Why a call that was refused caused no further refresh: its 401 was delivered.
///
/// - Requirement: REF-13
enum RefreshDenial: String, CaseIterable, Sendable {
  /// The token had just been refreshed for a refused call, and was refused again.
  case tokenIsNew = "tokenIsNew"
  /// Calls had caused as many refreshes as the window allows.
  case tooMany = "tooMany"
}

/// What refused calls have caused: which tokens were replaced for them, and which new one was refused.
///
/// A value without a clock. Refusals of one token count once: the calls that were refused together
/// share one refresh.
struct RefusalHistory: Hashable, Sendable {
  /// Whether a call may cause a refresh, and why not.
  enum Verdict: Hashable {
    case allowed
    /// `isNews` is `true` for the first call that is denied for this token and this reason.
    case denied(RefreshDenial, isNews: Bool)
  }

  private struct Asked: Hashable {
    let generation: Generation
    let uptime: Int64
  }

  private struct Told: Hashable {
    let generation: Generation
    let denial: RefreshDenial
  }

  /// The tokens that calls asked to have replaced, oldest first.
  private var asked: [Asked] = []
  /// The token that was refused although it was new, and when that was.
  private var refusedNew: Asked?
  private var told: Told?
  /// The longest interval that was asked about, in milliseconds; older entries are of no use.
  private var longest: Int64 = 0

  init() {}

  /// Whether a call that was refused this token may cause a refresh now; if so, it is counted.
  mutating func ask(
    _ generation: Generation, at uptime: Int64, _ window: RefreshWindow
  ) -> Verdict {
    let interval = window.interval.milliseconds(atLeast: 0)
    longest = max(longest, interval)
    asked.removeAll { uptime.subtractingSaturating($0.uptime) >= longest }
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

  /// A call was refused this token right after it had caused the refresh that brought it.
  mutating func refused(new generation: Generation, at uptime: Int64) -> Verdict {
    refusedNew = Asked(generation: generation, uptime: uptime)
    return denied(.tokenIsNew, generation)
  }

  private mutating func denied(_ denial: RefreshDenial, _ generation: Generation) -> Verdict {
    let now = Told(generation: generation, denial: denial)
    defer { told = now }
    return .denied(denial, isNews: told != now)
  }
}
