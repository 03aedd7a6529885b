import SessionCore
import Synchronization

/// The time of the last use of the session, which any thread can read and update.
///
/// Counting a use takes a few atomic loads and one store.
struct ActivityMeter: ~Copyable, Sendable {
  /// The effect of a use.
  enum Count: Hashable {
    /// The use counts.
    case counted
    /// The use counts, and other processes should learn of it now.
    case tell
    /// The use is too late: the session was unused for the whole limit, or its lifetime is over.
    case overdue
  }

  /// The longest time without a use, in milliseconds.
  ///
  /// If it is `nil`, there is no limit, and uses are not counted.
  let limit: Int64?
  private let isLimitedByPolicy: Bool
  private let interval: Int64
  private let latest = Atomic<Int64>(.min)
  private let told = Atomic<Int64>(.min)
  private let checked = Atomic<Int64>(.min)
  /// The uptime at which the session ends even if it is in use.
  ///
  /// - Requirement: POL-10
  private let end = Atomic<Int64>(.max)

  init(_ policy: PolicyFigures) {
    limit = policy.inactivityLimit
    isLimitedByPolicy = policy.inactivityLimit != nil || policy.absoluteLifetime != nil
    interval = policy.useInterval
  }

  /// Whether a use can be too late.
  var isLimited: Bool { isLimitedByPolicy || end.load(ordering: .relaxed) != .max }

  /// The uptime of the last use, in milliseconds of the monotonic clock.
  ///
  /// `nil` if no use is known, or if uses are not counted.
  var last: Int64? {
    guard limit != nil else { return nil }
    let latest = latest.load(ordering: .relaxed)
    return latest == .min ? nil : latest
  }

  /// Whether this process has counted a use.
  ///
  /// Its first use is always reported.
  var isOwn: Bool { told.load(ordering: .relaxed) != .min }

  /// Returns whether the caller should check if the session is over.
  ///
  /// The answer is `true` at most once a second, for one of all callers.
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
    // Of several uses at the same time, one is reported.
    return self.told.compareExchange(expected: told, desired: uptime, ordering: .relaxed).exchanged
      ? .tell : .counted
  }

  /// Takes over what the coordinator knows: the last use by any process, and when the session ends.
  func follow(_ uptime: Int64, until end: Int64 = .max) {
    self.end.store(end, ordering: .relaxed)
    guard limit != nil, uptime != .min else { return }
    latest.max(uptime, ordering: .relaxed)
  }
}
