public import SessionCore

/// A report of a session for logs and metrics: an event or a warning.
///
/// It contains no secret and no name of a user. `description` is one line for a log. `name` and
/// `labels` are the name and labels of a counter. Label values come from a small set: no
/// identifier, no time, and no text of a server except its known codes.
///
/// - Requirement: STA-7
public enum SessionReport: Hashable, Sendable {
  /// An event was journaled.
  case event(RecordedEvent)
  /// A condition that lasts too long or a problem.
  ///
  /// A warning of failures follows the event that caused it.
  case warning(SessionWarning)

  /// The name of the counter, such as `session.refreshFailed` or `session.warning.refreshFailing`.
  public var name: String {
    switch self {
    case .event(let recorded): "session.\(recorded.event.kind)"
    case .warning(.refreshFailing): "session.warning.refreshFailing"
    case .warning(.storageFailing): "session.warning.storageFailing"
    case .warning(.compactionFailing): "session.warning.compactionFailing"
    case .warning(.journalSetAside): "session.warning.journalSetAside"
    case .warning(.journalShared): "session.warning.journalShared"
    case .warning(.newTokenRefused), .warning(.refreshLimitReached):
      "session.warning.refreshDenied"
    case .warning(.refreshTokenMissing): "session.warning.refreshTokenMissing"
    case .warning(.refreshTokenShort): "session.warning.refreshTokenShort"
    case .warning(.tokenNotBound): "session.warning.tokenNotBound"
    case .warning(.identityTokenRefused): "session.warning.identityTokenRefused"
    case .warning(.tokenPlaceDiffers): "session.warning.tokenPlaceDiffers"
    case .warning(.longTokenRefused): "session.warning.longTokenRefused"
    }
  }

  /// The labels that distinguish counts with the same name.
  public var labels: [String: String] {
    switch self {
    case .event(let recorded): recorded.event.labels
    case .warning(.refreshFailing(let count, let last)):
      [
        "class": last.kind.failureClass.rawValue, "count": "\(count)",
        "failure": last.kind.description,
      ]
    case .warning(.storageFailing(let error)), .warning(.compactionFailing(let error)):
      ["trouble": StorageIssue(error).rawValue]
    case .warning(.journalSetAside(let cause)): ["cause": cause.description]
    case .warning(.newTokenRefused): ["denial": RefreshDenial.tokenIsNew.rawValue]
    case .warning(.refreshLimitReached): ["denial": RefreshDenial.tooMany.rawValue]
    case .warning(.refreshTokenMissing), .warning(.refreshTokenShort), .warning(.tokenPlaceDiffers),
      .warning(.journalShared), .warning(.tokenNotBound):
      [:]
    case .warning(.identityTokenRefused(let problem)): ["check": problem.check.description]
    case .warning(.longTokenRefused(_, let status)): ["status": "\(status)"]
    }
  }

  /// Whether a developer should examine the report.
  public var isWarning: Bool {
    if case .warning = self { true } else { false }
  }
}

extension SessionReport: CustomStringConvertible {
  /// One line, such as `12 refreshFailed attempt=2 failure=server trigger=retry`.
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
  /// The values of the event that come from a small set.
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

  /// Returns the label of an attempt.
  ///
  /// All attempts from the tenth on share one label, so that the values are few.
  private static func attempt(_ number: UInt32) -> String { number < 10 ? "\(number)" : "10+" }
}

/// The reports of a session after its creation: each one once, and in order.
///
/// - Requirement: STA-7
struct SessionReports: AsyncSequence, Sendable {
  /// An event or a warning.
  typealias Element = SessionReport
  /// Why events could not be read from the journal.
  typealias Failure = SessionError

  let events: SessionEvents
  let watch: FailureWatch
  /// The warnings to deliver before everything else.
  let first: [SessionWarning]
  /// The number of the hub's last warning that is in ``first`` or is too old.
  let warned: UInt64

  /// Returns an iterator that begins at the sequence's position.
  func makeAsyncIterator() -> Iterator {
    Iterator(
      events: events.makeAsyncIterator(), watch: watch, warnings: first[...], warned: warned)
  }

  /// Iterates over the reports.
  struct Iterator: AsyncIteratorProtocol {
    private var events: SessionEvents.Iterator
    private var watch: FailureWatch
    private var warnings: ArraySlice<SessionWarning>
    private var warned: UInt64

    init(
      events: SessionEvents.Iterator, watch: FailureWatch, warnings: ArraySlice<SessionWarning>,
      warned: UInt64
    ) {
      (self.events, self.watch) = (events, watch)
      (self.warnings, self.warned) = (warnings, warned)
    }

    /// Waits for the next report; `nil` after the session object was closed or the task was
    /// cancelled.
    mutating func next(isolation actor: isolated (any Actor)? = #isolation)
      async throws(SessionError) -> SessionReport?
    {
      while true {
        if let warning = warnings.popFirst() { return .warning(warning) }
        switch try await events.step(warned: warned, isolation: actor) {
        case .event(let recorded):
          if let warning = watch.take(recorded.event) { warnings.append(warning) }
          return .event(recorded)
        case .warnings(let news, let last):
          warnings += news
          warned = last
        case .finished:
          return nil
        }
      }
    }
  }
}

extension Session {
  /// The reports of the session for logs and metrics after this call: each one once, and in order.
  ///
  /// They never delay the session, and they begin, end and fail like ``events``. Problems that the
  /// session already has are first. A slow subscriber receives only the last warnings about
  /// storage.
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
  public var reports: some AsyncSequence<SessionReport, SessionError> & Sendable {
    // The status contains every event that was published, since the view changes first. With this
    // order of reads no event is reported twice and none is left out.
    let place = events.start
    let warned = engine.hub.lastWarning
    let shown = engine.view.current
    let status = status
    var first = engine.journalSetAside.map { [SessionWarning.journalSetAside($0.cause)] } ?? []
    let log = engine.configuration.place
    // The locks of such a file system may not reach all that can write to the journal.
    if log.file != nil, !log.isLocal { first.append(.journalShared) }
    first += shown.storageProblem.map { [.storageFailing($0)] } ?? []
    first += shown.compactionProblem.map { [.compactionFailing($0)] } ?? []
    return SessionReports(
      events: events(after: max(place, status.sequence)), watch: FailureWatch(status.state),
      first: first, warned: warned)
  }
}
