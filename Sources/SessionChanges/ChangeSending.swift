@_spi(Internals) public import SessionCore

/// What became of a change that was sent.
public enum SendOutcome: Hashable, Sendable {
  /// The server has taken it, now or when the same key came before.
  case done
  /// The server will never take it; says why. It is given up.
  case refused(String)
  /// The server answered that it cannot now; says why. Counts as an attempt.
  case tryLater(String, after: Duration? = nil)
  /// No server answered, as when `session.data(for:)` threw; says why. Does not count.
  case notReached(String)
}

/// What sending the changes that wait came to.
public struct DrainResult: Hashable, Sendable {
  /// Why it ended.
  public enum Ending: Hashable, Sendable {
    /// Nothing waits any more.
    case empty
    /// The gate closed; what waits stays.
    case gateClosed
    /// The first change is tried again then.
    case waits(until: Timestamp)
    /// Another process is sending, until then at most.
    case leasedElsewhere(until: Timestamp)
    /// The task was cancelled.
    case cancelled
  }

  /// How many changes the server took.
  public internal(set) var acknowledged = 0
  /// How many were given up.
  public internal(set) var givenUp = 0
  /// Why it ended.
  public internal(set) var ending = Ending.empty
}

/// How many changes a log takes.
public struct ChangeLogLimits: Hashable, Sendable {
  /// The bytes of content or body that one change may have.
  public static let content = 1 << 20
  /// The most bytes that may wait or be given up.
  public static let mostBytes = 4 << 20
  /// The most changes that may wait or be given up.
  public static let mostCount = 1_500

  /// How many changes may wait, those counted that were given up; at least 1, up to ``mostCount``.
  public let count: Int
  /// How many bytes those may have (``Change/size``); up to ``mostBytes``.
  public let bytes: Int

  /// Limits; values outside are moved to the nearest bound.
  public init(count: Int = 1_000, bytes: Int = ChangeLogLimits.mostBytes) {
    self.count = min(max(1, count), Self.mostCount)
    self.bytes = min(max(1, bytes), Self.mostBytes)
  }
}
