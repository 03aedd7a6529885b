public import SessionCore

/// What a log or a metric is told of a session: each event, and warnings.
///
/// Holds no secret and no name of a user. `description` is one line for a log; `name` and `labels` are a
/// counter's name and labels, whose values are words of a small set: no identifier, no time, no text of
/// a server but its known codes.
///
/// - Requirement: STA-7
public enum SessionReport: Hashable, Sendable {
  /// An event was journaled.
  case event(RecordedEvent)
  /// Something goes on for too long, or is in trouble; one of failures follows the event that made it so.
  case warning(SessionWarning)

  /// What to count: `session.refreshFailed`, `session.warning.refreshFailing`.
  public var name: String {
    switch self {
    case .event(let recorded): "session.\(recorded.event.kind)"
    case .warning(.refreshFailing): "session.warning.refreshFailing"
    case .warning(.storageFailing): "session.warning.storageFailing"
    case .warning(.compactionFailing): "session.warning.compactionFailing"
    case .warning(.journalSetAside): "session.warning.journalSetAside"
    case .warning(.newTokenRefused), .warning(.refreshLimitReached):
      "session.warning.refreshDenied"
    case .warning(.refreshTokenMissing): "session.warning.refreshTokenMissing"
    }
  }

  /// What to tell counts of the same name apart by.
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
    case .warning(.refreshTokenMissing): [:]
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

/// The reports of a session, each once and in order, from the moment this was made.
///
/// - Requirement: STA-7
struct SessionReports: AsyncSequence, Sendable {
  /// An event or a warning.
  typealias Element = SessionReport
  /// Why events could not be read back.
  typealias Failure = SessionError

  let events: SessionEvents
  let watch: FailureWatch
  /// What is to be told before anything else.
  let first: [SessionWarning]
  /// The last of the hub's warnings that is among them or too old.
  let warned: UInt64

  /// Begins where the sequence does.
  func makeAsyncIterator() -> Iterator {
    Iterator(
      events: events.makeAsyncIterator(), watch: watch, warnings: first[...], warned: warned)
  }

  /// Walks from report to report.
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

    /// Waits for the next report; `nil` once the session object is closed or the task cancelled.
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
  /// What a log or a metric needs of the session from now on: each report once, and in order.
  ///
  /// It never holds the session back, and it begins, ends and fails as ``events`` do. Problems that the session
  /// has already come first. A slow subscriber gets only the last warnings about storage.
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
    // Whatever was published is in the status: what is shown is swapped first. In this order no event
    // is told twice and none is left out.
    let place = events.start
    let warned = engine.hub.lastWarning
    let shown = engine.view.current
    let status = status
    var first = engine.journalSetAside.map { [SessionWarning.journalSetAside($0.cause)] } ?? []
    first += shown.storageProblem.map { [.storageFailing($0)] } ?? []
    first += shown.compactionProblem.map { [.compactionFailing($0)] } ?? []
    return SessionReports(
      events: events(after: max(place, status.sequence)), watch: FailureWatch(status.state),
      first: first, warned: warned)
  }
}
