/// When a journal is compacted, and what is always kept (`Specs/Retention.md`).
///
/// A limit that is `nil` does not apply.
///
/// - Requirement: JRN-4
public struct RetentionPolicy: Hashable, Sendable {
  /// The maximum number of records in the file.
  public var maximumRecords: UInt64?
  /// The maximum length of the records, in bytes.
  public var maximumBytes: UInt64?
  /// The maximum age of the oldest record, rounded up to milliseconds; a negative age counts as 0.
  public var maximumAge: Duration?
  /// How many of the newest records are kept regardless of the limits; 1 to 100,000.
  public var keptRecords: Int {
    didSet { keptRecords = min(max(1, keptRecords), Self.mostKept) }
  }
  /// How many records before the last end of a session are kept with it; 0 to 100,000.
  public var keptBeforeEnd: Int {
    didSet { keptBeforeEnd = min(max(0, keptBeforeEnd), Self.mostKept) }
  }

  /// The upper bound of both numbers: a plan remembers the place of each of those records.
  static let mostKept = 100_000

  /// Creates a policy; numbers out of bounds are moved to the nearest bound.
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

  /// Whether a journal with this number of records and bytes exceeds a limit.
  ///
  /// `oldest` is the time of the oldest record, `nil` if there is none. A time in the future
  /// exceeds no age: the clock was set back since.
  public func isExceeded(records: UInt64, bytes: UInt64, oldest: Timestamp?, now: Timestamp)
    -> Bool
  {
    if let maximumRecords, records > maximumRecords { return true }
    if let maximumBytes, bytes > maximumBytes { return true }
    guard let maximumAge, let oldest else { return false }
    return now.milliseconds(since: oldest) > maximumAge.milliseconds(atLeast: 0)
  }

  /// Whether both numbers are at most three quarters of their limits.
  func hasRoom(records: UInt64, bytes: UInt64) -> Bool {
    (maximumRecords.map { records <= $0 - $0 / 4 } ?? true)
      && (maximumBytes.map { bytes <= $0 - $0 / 4 } ?? true)
  }
}
