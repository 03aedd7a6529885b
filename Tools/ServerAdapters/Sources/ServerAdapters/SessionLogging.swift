public import Logging
public import SessionKit

/// Writes a session's reports and the steps of its calls to a logger of swift-log.
///
/// ```swift
/// let logging = SessionLogging(logger)
/// for try await report in session.reports { logging.record(report) }
/// ```
/// A report has no secret and no name of a user, so every handler may store it. Add what tells sessions apart to
/// the logger's metadata, such as a key of the account.
public struct SessionLogging: Sendable {
  private let logger: Logger

  /// Creates a writer for one session.
  public init(_ logger: Logger) { self.logger = logger }

  /// Writes one line whose message is the report's name, and whose metadata are its labels.
  ///
  /// Warnings and the expiry of a session have the level `warning`, failed refreshes `notice`, refreshes `debug`,
  /// and other events `info`.
  public func record(_ report: SessionReport) {
    var metadata: Logger.Metadata = report.labels.mapValues { .string($0) }
    if case .event(let recorded) = report { metadata["sequence"] = "\(recorded.sequence)" }
    logger.log(level: report.level, "\(report.name)", metadata: metadata)
  }

  /// Writes one step of a call with the level `debug`, for `session.calls(by:trace:)`.
  public func record(_ step: CallTrace) {
    logger.debug("\(step)")
  }
}

extension SessionReport {
  fileprivate var level: Logger.Level {
    switch self {
    case .warning: .warning
    case .event(let recorded):
      switch recorded.event.kind {
      case .sessionExpired: .warning
      case .refreshFailed: .notice
      case .refreshSucceeded: .debug
      default: .info
      }
    }
  }
}
