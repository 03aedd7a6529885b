/// When the session ends although it is used, on the clock that never jumps.
///
/// ```
///           begin, resume, state             timer, before the end
///  off ────────────────────────────▶ limited ──────┐
///   ▲                                │ │  ▲─────────┘
///   │              stop              │ │
///   └────────────────────────────────┘ └── timer or resume, at the end ──▶ expired
/// ```
///
/// The end is the earlier one of two:
/// - the policy's: a time after the login,
/// - the server's: what its last response stated.
///
/// - Requirement: POL-10
struct SessionLifetime: Hashable, Sendable {
  /// What a check of the end results in.
  enum Verdict: Hashable, Sendable {
    /// The session goes on, after these effects.
    case goesOn([SessionEffect])
    /// The session has reached its end.
    case expired
  }

  /// How long the policy lets a session last, in milliseconds; `nil` for no limit.
  private let limit: Int64?
  /// When the session ends by the policy; `Int64.max` for never.
  private var policyEnd = Int64.max
  /// When the session ends by the last response that stated it; `Int64.max` for never.
  private(set) var statedEnd = Int64.max

  init(_ policy: PolicyFigures) {
    limit = policy.absoluteLifetime
  }

  /// When the session ends; `Int64.max` for never.
  var end: Int64 { min(policyEnd, statedEnd) }

  private var isLimited: Bool { limit != nil || statedEnd != .max }

  private var timer: [SessionEffect] { [.schedule(.lifetime, uptime: end)] }

  /// Begins the measurement of a session that was logged in `age` milliseconds ago.
  ///
  /// What a response stated belongs to the session before.
  mutating func begin(age: Int64, at uptime: Int64) -> [SessionEffect] {
    let wasStated = statedEnd != .max
    statedEnd = .max
    guard let limit else { return wasStated ? [.cancel(.lifetime)] : [] }
    policyEnd = uptime.addingSaturating(limit.subtractingSaturating(age))
    return timer
  }

  /// Resumes the measurement at an opening.
  ///
  /// - Parameters:
  ///   - stated: the end that is stored with the token; `nil` to keep the known one.
  ///   - age: how long ago the session began, in milliseconds.
  ///   - mayExpire: whether no other end is being journaled.
  ///   - uptime: the present time.
  mutating func resume(
    stated: Int64?, age: Int64, mayExpire: Bool, at uptime: Int64
  ) -> Verdict {
    if let stated { statedEnd = stated }
    if let limit, policyEnd == .max {
      policyEnd = uptime.addingSaturating(limit.subtractingSaturating(max(0, age)))
    }
    return mayExpire ? check(at: uptime) : .goesOn(isLimited ? timer : [])
  }

  /// Handles the timer; another process may have begun a new session since it was set.
  func check(at uptime: Int64) -> Verdict {
    guard isLimited else { return .goesOn([]) }
    return uptime < end ? .goesOn(timer) : .expired
  }

  /// Records the end that a response states; `nil` keeps the known one.
  mutating func state(_ end: Int64?) -> [SessionEffect] {
    guard let end, end != statedEnd else { return [] }
    statedEnd = end
    return timer
  }

  /// Ends the measurement with the session.
  mutating func stop() -> [SessionEffect] {
    guard isLimited else { return [] }
    (policyEnd, statedEnd) = (.max, .max)
    return [.cancel(.lifetime)]
  }
}
