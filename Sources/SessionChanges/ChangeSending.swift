@_spi(Internals) public import SessionCore

/// The result of sending a change.
public enum SendOutcome: Hashable, Sendable {
  /// The server has accepted the change, now or earlier with the same key.
  case done
  /// The server will never accept the change, for this reason.
  ///
  /// The change becomes a dead letter.
  case refused(String)
  /// The server responded that it cannot accept the change now, for this reason.
  ///
  /// This counts as an attempt.
  case tryLater(String, after: Duration? = nil)
  /// No server responded, for this reason, such as an error of `session.data(for:)`.
  ///
  /// This does not count.
  case notReached(String)
}

/// The result of sending the pending changes.
public struct DrainResult: Hashable, Sendable {
  /// Why the sending ended.
  public enum Ending: Hashable, Sendable {
    /// There are no more pending changes.
    case empty
    /// The gate closed.
    ///
    /// The changes stay pending.
    case gateClosed
    /// The first change is tried again at this time.
    case waits(until: Timestamp)
    /// Another process is sending, until this time at most.
    case leasedElsewhere(until: Timestamp)
    /// The task was cancelled.
    case cancelled
  }

  /// The number of changes that the server accepted.
  public internal(set) var acknowledged = 0
  /// The number of changes that became dead letters.
  public internal(set) var givenUp = 0
  /// Why the sending ended.
  public internal(set) var ending = Ending.empty
}

/// The maximum number and size of a log's changes.
public struct ChangeLogLimits: Hashable, Sendable {
  /// The maximum size of one change's content or body, in bytes.
  public static let content = 1 << 20
  /// The highest possible limit of bytes.
  public static let mostBytes = 4 << 20
  /// The highest possible limit of changes.
  public static let mostCount = 1_500

  /// The maximum number of pending changes and dead letters, from 1 to ``mostCount``.
  public let count: Int
  /// The maximum size of pending changes and dead letters in bytes (``/SessionChangeQueue/Change/size``), up to
  /// ``mostBytes``.
  public let bytes: Int

  /// Creates limits.
  ///
  /// Values out of range become the nearest bound.
  public init(count: Int = 1_000, bytes: Int = ChangeLogLimits.mostBytes) {
    self.count = min(max(1, count), Self.mostCount)
    self.bytes = min(max(1, bytes), Self.mostBytes)
  }
}
