@_spi(Internals) public import SessionCore

/// An end of a session, explained, with labels for a metric.
///
/// - Requirement: RPL-8
public struct ExplainedEnd: Equatable, Sendable {
  /// Why the session ended, by the records at that time.
  public let explanation: Explanation
  /// The place of the end, with which ``ExplainedEnds`` continues after a restart.
  public let position: Position

  /// The place of an end: a journal, and the number of a record in it.
  public struct Position: Hashable, Sendable, Codable {
    /// The identifier of the journal.
    public let journal: String
    /// The sequence of the end.
    public let sequence: UInt64

    /// Creates a place.
    public init(journal: String, sequence: UInt64) {
      self.journal = journal
      self.sequence = sequence
    }
  }

  /// The values of the labels, each from a closed set.
  ///
  /// `cause` is an identifier of ``Cause/all``, `certainty` the raw value of a ``Certainty``,
  /// `app` the version that the app gave, and `platform` a word such as `iOS`. `app` and `platform`
  /// are `unknown` if the journal does not have them. No label names a user.
  public var labels: [(name: String, value: String)] {
    [
      ("cause", explanation.cause.id), ("certainty", explanation.certainty.rawValue),
      ("app", explanation.app ?? Self.unknown), ("platform", explanation.platform ?? Self.unknown),
    ]
  }

  private static let unknown = "unknown"

  /// Returns the ends of a history after a place, the oldest first.
  ///
  /// A place of another journal is before all records of the history. An end that a snapshot has
  /// replaced is not there any more.
  public static func ends(of history: SessionHistory, after position: Position? = nil)
    -> [ExplainedEnd]
  {
    let journal = history.journal.description
    let last = position?.journal == journal ? position?.sequence ?? 0 : 0
    return Explanation.ends(of: history).compactMap { explanation in
      guard let sequence = explanation.sequence, sequence > last else { return nil }
      return ExplainedEnd(
        explanation: explanation, position: Position(journal: journal, sequence: sequence))
    }
  }
}

/// The ends of a session as they happen, each explained once.
///
/// ```swift
/// for try await end in ExplainedEnds(of: session.events, history: session.history) {
///   counter.increment(end.labels)
/// }
/// ```
/// The sequence begins where the events begin. With the stored position of the last end, it begins
/// after that end, so that nothing is missed or repeated when the app starts again. An expiry and a
/// logout that were written together are one end.
///
/// An end is explained by the records of that moment. Later records, such as the next login, do not
/// change what was counted.
///
/// For each end, the history is read once. The sequence ends and throws as the events do, and throws
/// what `history` throws.
/// - Requirement: RPL-8
public struct ExplainedEnds<Events: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Events.Element == RecordedEvent {
  /// An explained end.
  public typealias Element = ExplainedEnd
  /// The error of the events and of the history.
  public typealias Failure = Events.Failure

  private let events: Events
  private let position: ExplainedEnd.Position?
  private let history: @Sendable () async throws(Events.Failure) -> SessionHistory

  /// Creates the sequence.
  ///
  /// - Parameters:
  ///   - events: the session's events.
  ///   - position: the place of the last end that was counted; `nil` for ends after now.
  ///   - history: reads what the journal holds.
  public init(
    of events: Events, after position: ExplainedEnd.Position? = nil,
    history: @escaping @Sendable () async throws(Events.Failure) -> SessionHistory
  ) {
    self.events = events
    self.position = position
    self.history = history
  }

  /// Returns an iterator that begins at the sequence's position.
  public func makeAsyncIterator() -> Iterator {
    Iterator(events: events.makeAsyncIterator(), position: position, history: history)
  }

  /// Iterates over the ends.
  public struct Iterator: AsyncIteratorProtocol {
    private var events: Events.AsyncIterator
    private var position: ExplainedEnd.Position?
    private let history: @Sendable () async throws(Events.Failure) -> SessionHistory
    private var ahead: ArraySlice<ExplainedEnd> = []
    private var isBegun = false

    fileprivate init(
      events: Events.AsyncIterator, position: ExplainedEnd.Position?,
      history: @escaping @Sendable () async throws(Events.Failure) -> SessionHistory
    ) {
      self.events = events
      self.position = position
      self.history = history
    }

    /// Waits for the next end; `nil` after the last event.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation)
      async throws(Events.Failure) -> ExplainedEnd?
    {
      while true {
        if let end = ahead.popFirst() {
          position = end.position
          return end
        }
        if !isBegun, let position {
          // The events do not have what happened before the app started.
          ahead = ExplainedEnd.ends(of: try await history(), after: position)[...]
          isBegun = true
          continue
        }
        isBegun = true
        guard let event = try await events.next(isolation: actor) else { return nil }
        guard event.event.isEnd else { continue }
        let read = try await history()
        let journal = read.journal.description
        // Without a position, the first end is the one of this event.
        let last = position ?? .init(journal: journal, sequence: event.sequence - 1)
        ahead = ExplainedEnd.ends(of: read, after: last)[...]
      }
    }
  }
}

extension SessionEvent {
  /// Whether the event ends a session.
  fileprivate var isEnd: Bool { kind == .sessionExpired || kind == .logout }
}
