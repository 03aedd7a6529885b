@_spi(Internals) public import SessionCore

/// A refresh that succeeded, with how long it took.
///
/// - Requirement: RPL-8
public struct RefreshSample: Hashable, Sendable {
  /// The sequence of its `refreshSucceeded`.
  public let sequence: UInt64
  /// The time from the record of the request to the record of the token, by the device's clock.
  public let duration: Duration
  /// The version of the app that last opened the journal before it; `nil` if it is not known.
  public let app: String?
  /// The kind of system, such as `iOS`; `nil` if it is not known.
  public let platform: String?
}

extension SessionHistory {
  /// Returns the refreshes that succeeded after the record with this sequence, the oldest first.
  ///
  /// A refresh is left out in two cases: the record of its request is not in the history, or the
  /// device's clock was set during it. Then the time is below 0, or above ten minutes.
  /// - Requirement: RPL-8
  public func refreshes(after sequence: UInt64 = 0) -> [RefreshSample] {
    var samples: [RefreshSample] = []
    var sent: (sequence: UInt64, time: Timestamp)?
    var opened: SessionNote.Opened?
    for part in parts {
      guard case .record(let entry) = part else {
        opened = nil
        continue
      }
      let record = entry.record
      switch record.content {
      case .note(.opened(let note)): opened = note
      case .note(.requestSent): sent = (record.sequence, record.time)
      case .event(.refreshSucceeded(let refresh)):
        guard let request = sent, request.sequence == refresh.request,
          record.sequence > sequence
        else { continue }
        guard let span = RequestSpan.milliseconds(from: request.time, to: record.time) else {
          continue
        }
        samples.append(
          RefreshSample(
            sequence: record.sequence, duration: .milliseconds(span),
            app: opened?.app?.description, platform: opened?.platform?.metricLabel))
      default: break
      }
    }
    return samples
  }
}

/// The durations of refreshes, counted in buckets with fixed bounds, so that histograms merge.
///
/// - Requirement: RPL-8
public struct RefreshHistogram: Hashable, Sendable {
  /// The highest duration of each bucket, itself included; a last bucket has the longer ones.
  ///
  /// 50, 100, 250 and 500 ms, 1, 2.5, 5, 10, 30 and 60 s.
  public static let bounds: [Duration] = [
    .milliseconds(50), .milliseconds(100), .milliseconds(250), .milliseconds(500),
    .seconds(1), .milliseconds(2_500), .seconds(5), .seconds(10), .seconds(30), .seconds(60),
  ]

  /// The number of durations in each bucket; one more than there are bounds.
  public private(set) var counts = [UInt64](repeating: 0, count: Self.bounds.count + 1)
  /// The sum of all durations.
  public private(set) var sum = Duration.zero

  /// Creates a histogram without durations.
  public init() {}

  /// Creates the histogram of these refreshes.
  public init(_ samples: some Sequence<RefreshSample>) {
    for sample in samples { add(sample.duration) }
  }

  /// The number of durations.
  public var count: UInt64 { counts.reduce(0, +) }

  /// Counts a duration.
  public mutating func add(_ duration: Duration) {
    counts[Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count] += 1
    sum += duration
  }

  /// Adds what another histogram has counted.
  public mutating func merge(_ other: RefreshHistogram) {
    for place in counts.indices { counts[place] += other.counts[place] }
    sum += other.sum
  }
}
