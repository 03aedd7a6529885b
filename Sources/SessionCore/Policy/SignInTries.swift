/// The logins of the last minute.
///
/// - Requirement: LOG-2
struct SignInTries: Hashable, Sendable {
  /// When each was tried, oldest first, in milliseconds of uptime.
  private var times: [Int64] = []

  private static let minute: Int64 = 60_000

  /// Counts a try, or returns for how many milliseconds there must be none.
  ///
  /// Nothing is counted if `limit` tries were made in the last minute.
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
