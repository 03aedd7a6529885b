public import CoreMetrics
import Metrics
public import SessionExplain
public import SessionKit

/// Counts a session's reports, ends and refreshes with a metrics library (apple/swift-metrics).
///
/// The number of time series is bounded: each label has its values from a closed set, and the
/// versions of the app are the app's own.
public struct SessionMetrics: Sendable {
  private let factory: any MetricsFactory

  /// Creates a recorder with the metrics system of the app.
  public init(_ factory: any MetricsFactory) { self.factory = factory }

  /// Counts a report by its name and labels, such as `session.refreshFailed`.
  public func record(_ report: SessionReport) {
    let labels = report.labels.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    Counter(label: report.name, dimensions: labels, factory: factory).increment()
  }

  /// Counts an end by cause, certainty, version of the app and kind of system.
  public func record(_ end: ExplainedEnd) {
    let labels = end.labels.map { ($0.name, $0.value) }
    Counter(label: "session_ends_total", dimensions: labels, factory: factory).increment()
  }

  /// Records how long a refresh took.
  public func record(_ refresh: RefreshSample) {
    let labels = [
      ("app", refresh.app ?? "unknown"), ("platform", refresh.platform ?? "unknown"),
    ]
    CoreMetrics.Timer(label: "session_refresh_duration", dimensions: labels, factory: factory)
      .record(duration: refresh.duration)
  }
}
