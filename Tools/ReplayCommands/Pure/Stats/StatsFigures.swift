@_spi(Internals) internal import SessionCore

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
