/// The login attempts of the last minute.
///
/// ```
///             admit: fewer than the limit
///            ┌───────────┐
///            ▼           │      as many as the limit allows
///  allowed ──┴───────────┴─────────────────────────────────────▶ refused
///     ▲                                                              │
///     └──────────── the oldest attempt is a minute ago ──────────────┘
/// ```
///
/// - Requirement: LOG-2
struct SignInTries: Hashable, Sendable {
  /// The times of the attempts, oldest first, in milliseconds of uptime.
  private var times: [Int64] = []

  private static let minute: Int64 = 60_000

  /// Counts an attempt; or returns how many milliseconds the caller must wait, and counts nothing.
  ///
  /// `limit` attempts are allowed in any minute.
  mutating func admit(at uptime: Int64, under limit: Int) -> Int64? {
    times.removeAll { $0.addingSaturating(Self.minute) <= uptime }
    guard times.count >= limit else {
      times.append(uptime)
      return nil
    }
    return times[times.count - limit].addingSaturating(Self.minute)
      .subtractingSaturating(uptime)
  }
}
