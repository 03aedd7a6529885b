public import SessionCore

/// What a log or a metric is told of a session: each event, and warnings (STA-7).
///
/// Holds no secret and no name of a user. `description` is one line for a log; `name` and `labels` are a
/// counter's name and labels, whose values are words of a small set: no identifier, no time, no text of
/// a server but its known codes.
public enum SessionReport: Hashable, Sendable {
  /// An event was journaled.
  case event(RecordedEvent)
  /// Something goes on for too long; follows the event that made it so.
  case warning(SessionWarning)

  /// What to count: `session.refreshFailed`, `session.warning.refreshFailing`.
  public var name: String {
    switch self {
    case .event(let recorded): "session.\(recorded.event.kind)"
    case .warning(.refreshFailing): "session.warning.refreshFailing"
    }
  }

  /// What to tell counts of the same name apart by.
  public var labels: [String: String] {
    switch self {
    case .event(let recorded): recorded.event.labels
    case .warning(.refreshFailing(let kind, let count, let last)):
      ["class": kind.rawValue, "count": "\(count)", "failure": last.kind.description]
    }
  }

  /// Whether somebody should look at it.
  public var isWarning: Bool {
    if case .warning = self { true } else { false }
  }
}

extension SessionReport: CustomStringConvertible {
  /// One line: `12 refreshFailed attempt=2 failure=server trigger=retry`.
  public var description: String {
    switch self {
    case .event(let recorded):
      (["\(recorded.sequence) \(recorded.event.kind)"]
        + recorded.event.labels.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
        .joined(separator: " ")
    case .warning(let warning): "warning: \(warning)"
    }
  }
}

extension SessionEvent {
  /// What of it is a word of a small set.
  fileprivate var labels: [String: String] {
    switch self {
    case .login(let login): ["method": login.method.description]
    case .refreshSucceeded(let refresh):
      [
        "trigger": refresh.trigger.description, "attempt": Self.attempt(refresh.attempt),
        "rotated": refresh.isRotated ? "yes" : "no",
      ]
    case .refreshFailed(let refresh):
      [
        "trigger": refresh.trigger.description, "attempt": Self.attempt(refresh.attempt),
        "failure": refresh.failure.kind.description, "status": "\(refresh.failure.status)",
      ]
    case .contextSwitched(let change): ["trigger": change.trigger.description]
    case .sessionExpired(let expiry): ["reason": expiry.reason.description]
    case .logout(let logout): ["reason": logout.reason.description]
    }
  }

  /// A label has few values: from the tenth attempt on they are one.
  private static func attempt(_ number: UInt32) -> String { number < 10 ? "\(number)" : "10+" }
}

/// The reports of a session, each once and in order, from the moment this was made (STA-7).
///
/// A subscriber like any other: it holds the session back in nothing, and begins, ends and fails as its
/// events do. Warnings go on from the failures that the state counted before.
public struct SessionReports: AsyncSequence, Sendable {
  /// An event or a warning.
  public typealias Element = SessionReport
  /// Why events could not be read back.
  public typealias Failure = SessionError

  let events: SessionEvents
  let watch: FailureWatch

  /// Begins where the sequence does.
  public func makeAsyncIterator() -> Iterator {
    Iterator(events: events.makeAsyncIterator(), watch: watch)
  }

  /// Walks from report to report.
  public struct Iterator: AsyncIteratorProtocol {
    private var events: SessionEvents.Iterator
    private var watch: FailureWatch
    private var warning: SessionWarning?

    init(events: SessionEvents.Iterator, watch: FailureWatch) {
      (self.events, self.watch) = (events, watch)
    }

    /// Waits for the next report; `nil` once the session object is closed or the task cancelled.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation)
      async throws(SessionError) -> SessionReport?
    {
      if let warning {
        self.warning = nil
        return .warning(warning)
      }
      guard let recorded = try await events.next(isolation: actor) else { return nil }
      warning = watch.take(recorded.event)
      return .event(recorded)
    }
  }
}

extension Session {
  /// What a log or a metric is told of the session from now on.
  ///
  /// ```swift
  /// let reports = session.reports
  /// Task {
  ///   for try await report in reports {
  ///     log("\(report)")
  ///     count(report.name, report.labels)
  ///   }
  /// }
  /// ```
  public var reports: SessionReports {
    // Whatever was published is in the status: what is shown is swapped first. In this order no event
    // is told twice and none is left out.
    let place = events.start
    let status = status
    return SessionReports(
      events: events(after: max(place, status.sequence)), watch: FailureWatch(status.state))
  }
}
