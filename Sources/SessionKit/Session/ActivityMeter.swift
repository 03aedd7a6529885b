import SessionCore
import Synchronization

/// When the session was used last, for any thread: counting a use is a few atomic loads and a store.
struct ActivityMeter: ~Copyable, Sendable {
  /// What a use comes to.
  enum Count: Hashable {
    /// It counts.
    case counted
    /// It counts, and it is time that others get to know.
    case tell
    /// It comes too late: the session had been unused for the whole limit, or has lasted its time.
    case overdue
  }

  /// How long the session may be unused; `nil` for any time, and then nothing is counted.
  let limit: Int64?
  private let isLimitedByPolicy: Bool
  private let interval: Int64
  private let latest = Atomic<Int64>(.min)
  private let told = Atomic<Int64>(.min)
  private let checked = Atomic<Int64>(.min)
  /// When the session ends, however it is used.
  ///
  /// - Requirement: POL-10
  private let end = Atomic<Int64>(.max)

  init(_ policy: PolicyFigures) {
    limit = policy.inactivityLimit
    isLimitedByPolicy = policy.inactivityLimit != nil || policy.absoluteLifetime != nil
    interval = policy.useInterval
  }

  /// Whether a use can come too late.
  var isLimited: Bool { isLimitedByPolicy || end.load(ordering: .relaxed) != .max }

  /// The last use, on the clock that never jumps; `nil` where none is known or none is counted.
  var last: Int64? {
    guard limit != nil else { return nil }
    let latest = latest.load(ordering: .relaxed)
    return latest == .min ? nil : latest
  }

  /// Whether a use was counted here; the first one is told always.
  var isOwn: Bool { told.load(ordering: .relaxed) != .min }

  /// Whether it is time to look whether the session is over; for one of many that ask in a second.
  func isDue(at uptime: Int64) -> Bool {
    let checked = checked.load(ordering: .relaxed)
    guard uptime.subtractingSaturating(checked) >= 1_000 else { return false }
    return self.checked.compareExchange(expected: checked, desired: uptime, ordering: .relaxed)
      .exchanged
  }

  /// Counts a use.
  func count(at uptime: Int64) -> Count {
    guard uptime < end.load(ordering: .relaxed) else { return .overdue }
    guard let limit else { return .counted }
    let latest = latest.load(ordering: .relaxed)
    guard latest != .min else { return .counted }
    guard uptime < latest.addingSaturating(limit) else { return .overdue }
    self.latest.max(uptime, ordering: .relaxed)
    let told = told.load(ordering: .relaxed)
    guard uptime.subtractingSaturating(told) >= interval else { return .counted }
    // One of many that come together tells it.
    return self.told.compareExchange(expected: told, desired: uptime, ordering: .relaxed).exchanged
      ? .tell : .counted
  }

  /// Takes in what the coordinator knows: the last use, of any process, and when the session ends.
  func follow(_ uptime: Int64, until end: Int64 = .max) {
    self.end.store(end, ordering: .relaxed)
    guard limit != nil, uptime != .min else { return }
    latest.max(uptime, ordering: .relaxed)
  }
}
