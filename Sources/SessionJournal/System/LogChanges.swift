/// Waits until other openings of a log may have appended.
public protocol LogChanges: Sendable {
  /// Whether changes are reported; if not, the session asks ``SessionLog/hasNews()`` each second.
  var isNotified: Bool { get }

  /// Suspends until there was a change since the last wait, but no longer than `limit`.
  ///
  /// Blocks no thread. Returns at once if the task is cancelled. Returning too early is no error.
  func wait(atMost limit: Duration) async
}

/// Changes that nothing reports: each wait lasts to its limit.
struct PolledChanges: LogChanges {
  let isNotified = false

  func wait(atMost limit: Duration) async {
    do { try await Task.sleep(for: limit) } catch {
      // The task was cancelled, and ends after this wait.
    }
  }
}
