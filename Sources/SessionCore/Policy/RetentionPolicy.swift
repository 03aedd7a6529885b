/// How long a journal may get, and what of it is always kept (`Specs/Retention.md`).
///
/// Pure data. A limit that is `nil` is none.
///
/// - Requirement: JRN-4
public struct RetentionPolicy: Hashable, Sendable {
  /// How many records may stand in the file.
  public var maximumRecords: UInt64?
  /// How many bytes they may take.
  public var maximumBytes: UInt64?
  /// How old the oldest may be, rounded up to milliseconds; below 0 is 0.
  public var maximumAge: Duration?
  /// How many of the newest records are kept whatever the limits say; 1 to 100,000.
  public var keptRecords: Int {
    didSet { keptRecords = min(max(1, keptRecords), Self.mostKept) }
  }
  /// How many records before the last end of a session are kept with it; 0 to 100,000.
  public var keptBeforeEnd: Int {
    didSet { keptBeforeEnd = min(max(0, keptBeforeEnd), Self.mostKept) }
  }

  /// A plan remembers the place of each of them.
  static let mostKept = 100_000

  /// A policy; numbers out of bounds are taken as the nearest within.
  public init(
    maximumRecords: UInt64? = 10_000, maximumBytes: UInt64? = 4_194_304,
    maximumAge: Duration? = nil, keptRecords: Int = 1_000, keptBeforeEnd: Int = 100
  ) {
    self.maximumRecords = maximumRecords
    self.maximumBytes = maximumBytes
    self.maximumAge = maximumAge
    self.keptRecords = min(max(1, keptRecords), Self.mostKept)
    self.keptBeforeEnd = min(max(0, keptBeforeEnd), Self.mostKept)
  }

  /// Whether a journal with so many records and bytes passes a limit.
  ///
  /// `oldest` is when the oldest record was written, `nil` without one. One of the future, on a clock
  /// that was set back since, passes none.
  public func isExceeded(records: UInt64, bytes: UInt64, oldest: Timestamp?, now: Timestamp)
    -> Bool
  {
    if let maximumRecords, records > maximumRecords { return true }
    if let maximumBytes, bytes > maximumBytes { return true }
    guard let maximumAge, let oldest else { return false }
    return now.milliseconds(since: oldest) > maximumAge.milliseconds(atLeast: 0)
  }

  /// Whether so much is at most three quarters of the limits, for what is kept but for its number.
  func hasRoom(records: UInt64, bytes: UInt64) -> Bool {
    (maximumRecords.map { records <= $0 - $0 / 4 } ?? true)
      && (maximumBytes.map { bytes <= $0 - $0 / 4 } ?? true)
  }
}
