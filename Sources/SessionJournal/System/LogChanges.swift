/// Waits until other openings of a log may have appended.
public protocol LogChanges: Sendable {
  /// Whether changes are reported; if not, the session asks ``SessionLog/hasNews()`` each second.
  var isNotified: Bool { get }

  /// How long a session waits at most before it asks ``SessionLog/hasNews()`` without a report.
  ///
  /// By default a minute if changes are reported, else a second. Give a longer time only if no
  /// report can be omitted.
  var longestWait: Duration { get }

  /// Whether the reports are about the log as it is now.
  ///
  /// False if its storage was replaced. Then the session asks the log for ``SessionLog/changes()``
  /// again. By default true.
  var isCurrent: Bool { get }

  /// Suspends until there was a change since the last wait, but no longer than `limit`.
  ///
  /// Blocks no thread. Returns at once if the task is cancelled. Returning too early is no error.
  func wait(atMost limit: Duration) async
}

extension LogChanges {
  /// A minute if changes are reported, else a second.
  public var longestWait: Duration { isNotified ? .seconds(60) : .seconds(1) }

  /// True.
  public var isCurrent: Bool { true }
}

/// Changes that nothing reports: each wait lasts to its limit.
struct PolledChanges: LogChanges {
  let isNotified = false

  func wait(atMost limit: Duration) async {
    do { try await ProcessTimers.shared.sleep(for: limit) } catch {
      // The task was cancelled, and ends after this wait.
    }
  }
}
