/// How many sign-ins may be tried in a minute (LOG-2).
///
/// It spares the user a lock by the server, and the server a user who leans on the key. Counted by the
/// process, on the clock that never jumps; opening the session anew begins a new count.
public struct SignInLimit: Hashable, Sendable {
  /// The most tries in any minute.
  public var perMinute: UInt32

  /// What people need, and hardly more: 5.
  public static let production = SignInLimit(perMinute: 5)

  /// So many tries in any minute, at least one.
  public init(perMinute: UInt32) {
    self.perMinute = max(1, perMinute)
  }
}

/// The tries of the last minute.
struct SignInTries: Hashable, Sendable {
  /// When each was, oldest first, in milliseconds of uptime.
  private var times: [Int64] = []

  private static let minute: Int64 = 60_000

  /// Counts a try, or says for how many milliseconds there must be none.
  mutating func admit(at uptime: Int64, under limit: SignInLimit) -> Int64? {
    times.removeAll { $0.addingSaturating(Self.minute) <= uptime }
    guard times.count >= Int(limit.perMinute) else {
      times.append(uptime)
      return nil
    }
    return times[times.count - Int(limit.perMinute)].addingSaturating(Self.minute)
      .subtractingSaturating(uptime)
  }
}
