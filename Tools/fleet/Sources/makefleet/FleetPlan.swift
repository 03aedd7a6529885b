/// What happens in a fleet, and how often: 30 days, four versions of an app, one of them worse.
struct FleetPlan: Sendable {
  /// A version of the app.
  struct Release: Sendable {
    let name: String
    /// The part of all installs that begin with it.
    let share: Double
    /// The probability that the response to a refresh is lost.
    let lostResponses: Double
  }

  static let days = 30
  /// 2026-09-01T00:00:00Z, in milliseconds since 1970.
  static let start: Int64 = 1_788_220_800_000
  static let day: Int64 = 86_400_000

  /// The releases; 4.2.0 is worse on purpose, since its background task ends too early.
  static let releases = [
    Release(name: "4.0.3", share: 0.15, lostResponses: 0.010),
    Release(name: "4.1.0", share: 0.30, lostResponses: 0.010),
    Release(name: "4.2.0", share: 0.30, lostResponses: 0.022),
    Release(name: "4.2.1", share: 0.25, lostResponses: 0.009),
  ]

  /// The day on which the server answers slowly and often fails, from 0.
  static let badDay = 17
  /// How often a server that rotated a token has no grace time for the old one.
  static let strictness = 0.55
  /// The part of the users whose network loses many responses.
  static let unluckyUsers = 0.01
  /// The probability of a lost response for them.
  static let unluckyLosses = 0.9
  /// The part of the journals in which a byte is changed afterwards.
  static let damage = 0.004

  /// Returns the probability that a refresh gets an answer 503.
  static func failures(on day: Int) -> Double { day == badDay ? 0.25 : 0.006 }

  /// Returns the median of the time that the server takes to answer, in milliseconds.
  static func latency(on day: Int) -> Double { day == badDay ? 1_400 : 180 }

  /// Returns the release that a draw from 0 to 1 selects.
  static func release(at draw: Double) -> Int {
    var sum = 0.0
    for (place, release) in releases.enumerated() {
      sum += release.share
      if draw < sum { return place }
    }
    return releases.count - 1
  }
}
