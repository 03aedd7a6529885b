@_spi(Internals) internal import SessionCore

/// The common property of a group of figures.
enum StatsKey: Hashable, Comparable, Sendable {
  /// A day, counted from 1970-01-01.
  case day(Int64)
  /// A word: a reason, a cause, a method, a file.
  case word(String)
}

extension StatsKey {
  /// Returns whether it is shown before another group with as many ends.
  ///
  /// Numbers in words are compared by value: 2.9 comes before 2.10.
  func comesBefore(_ other: StatsKey) -> Bool {
    guard case (.word(let left), .word(let right)) = (self, other) else { return self < other }
    let parts = (Self.parts(left), Self.parts(right))
    for (left, right) in zip(parts.0, parts.1) where left != right { return left < right }
    return parts.0.count == parts.1.count ? left < right : parts.0.count < parts.1.count
  }

  /// A part of a word: digits, which are compared by value, or the text between them.
  private enum Part: Comparable {
    /// The digits without leading zeros, so that a longer number is greater.
    case number(length: Int, digits: String)
    case text(String)
  }

  private static func parts(_ word: String) -> [Part] {
    var parts: [Part] = []
    var rest = Substring(word)
    while let first = rest.first {
      let isDigits = first.isASCII && first.isNumber
      let run = rest.prefix { ($0.isASCII && $0.isNumber) == isDigits }
      rest = rest[run.endIndex...]
      let digits = run.drop { $0 == "0" }
      parts.append(
        isDigits ? .number(length: digits.count, digits: String(digits)) : .text(String(run)))
    }
    return parts
  }
}

/// Figures in at most `limit` groups; the figures of other groups are counted together.
///
/// The last days, or the first words in order, are kept. Which groups are kept does not depend on
/// the order of the figures. A merge of two halves therefore has the same groups, too.
struct StatsGroups: Equatable, Sendable {
  private(set) var figures: [StatsKey: StatsFigures] = [:]
  /// The figures of the groups that are not kept.
  private(set) var others = StatsFigures()
  private let limit: Int

  init(limit: Int = 1_024) {
    self.limit = max(1, limit)
  }

  /// The sum of all figures.
  var total: StatsFigures {
    var total = others
    for group in figures.values { total.merge(group) }
    return total
  }

  mutating func add(_ new: StatsFigures, to key: StatsKey) {
    guard figures[key] == nil else {
      figures[key]?.merge(new)
      return
    }
    figures[key] = new
    guard figures.count > limit,
      let dropped = figures.keys.max(by: Self.isKeptBefore),
      let rest = figures.removeValue(forKey: dropped)
    else { return }
    others.merge(rest)
  }

  mutating func merge(_ other: StatsGroups) {
    others.merge(other.others)
    for (key, group) in other.figures { add(group, to: key) }
  }

  private static func isKeptBefore(_ left: StatsKey, _ right: StatsKey) -> Bool {
    switch (left, right) {
    case (.day(let left), .day(let right)): left > right
    default: left < right
    }
  }
}

/// How a session ended: by an expiry or by a logout.
enum SessionEnd: Hashable, Sendable, CustomStringConvertible {
  case expired(UInt8)
  case loggedOut(UInt8)
  /// A refresh failed permanently, but the server did not reject it.
  case notRefreshed(RequestFailure.Kind)

  init(_ reason: ExpiryReason) { self = .expired(reason.rawValue) }
  /// Creates an end by expiry after the last failed refresh.
  ///
  /// A refresh was not rejected if it was never sent, or was answered with another user's token.
  init(_ reason: ExpiryReason, after failure: RequestFailure.Kind?) {
    let isOwn = failure == .noRefreshToken || failure == .otherUser
    if reason == .refreshRejected, isOwn, let failure {
      self = .notRefreshed(failure)
    } else {
      self.init(reason)
    }
  }

  init(_ reason: LogoutReason) { self = .loggedOut(reason.rawValue) }

  /// Returns `refreshRejected`, `logout(user)`.
  var description: String {
    switch self {
    case .expired(let code): ExpiryReason(rawValue: code).description
    case .notRefreshed(let kind): "\(ExpiryReason.refreshRejected)(\(kind))"
    case .loggedOut(let code): "logout(\(LogoutReason(rawValue: code)))"
    }
  }
}

/// The figures of a count (`Specs/ReplayStats.md` describes each one); merging adds them.
struct StatsFigures: Equatable, Sendable {
  var sessions: UInt64 = 0
  var continued: UInt64 = 0
  var open: UInt64 = 0
  var ends: [SessionEnd: UInt64] = [:]
  var causes: [String: UInt64] = [:]
  var succeeded: UInt64 = 0
  var failures: [RequestFailure.Kind: UInt64] = [:]
  var latency = SpanTally()
  var failureLatency = SpanTally()
  var recovery = SpanTally()
  var neverRecovered: UInt64 = 0
  var length = SpanTally()
  var tokens: UInt64 = 0
  var rotated: UInt64 = 0

  var ended: UInt64 { ends.values.reduce(0, +) }
  var failed: UInt64 { failures.values.reduce(0, +) }
  /// The number of refreshes to which a server responded, successfully or not.
  var answered: UInt64 {
    failures.reduce(succeeded) { $0 + ($1.key.isAnswered ? $1.value : 0) }
  }
  var isEmpty: Bool { self == StatsFigures() }

  mutating func merge(_ other: StatsFigures) {
    sessions += other.sessions
    continued += other.continued
    open += other.open
    ends.merge(other.ends, uniquingKeysWith: +)
    causes.merge(other.causes, uniquingKeysWith: +)
    succeeded += other.succeeded
    failures.merge(other.failures, uniquingKeysWith: +)
    latency.merge(other.latency)
    failureLatency.merge(other.failureLatency)
    recovery.merge(other.recovery)
    neverRecovered += other.neverRecovered
    length.merge(other.length)
    tokens += other.tokens
    rotated += other.rotated
  }
}
