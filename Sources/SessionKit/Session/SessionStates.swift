/// The status of a session as a sequence: the current status first, then each newer one.
///
/// Only the newest status is delivered. A slow subscriber skips older ones, so it never shows an
/// outdated status and never delays the session. To see each change, use the events.
///
/// Every iterator begins with the status that is current at its first call. The sequence never
/// fails. It ends when the session object is closed or released, or when the task is cancelled.
///
/// - Requirement: STA-7
public struct SessionStates: AsyncSequence, Sendable {
  /// What the session shows at one moment.
  public typealias Element = SessionStatus
  /// It never fails.
  public typealias Failure = Never

  let hub: StatusHub

  /// What the session shows now.
  package var current: SessionStatus { hub.current }
  /// Whether the session object was closed or released.
  package var isFinished: Bool { hub.isFinished }

  /// Returns an iterator that begins with the current status.
  public func makeAsyncIterator() -> Iterator { Iterator(hub: hub) }

  /// Iterates over the statuses.
  public struct Iterator: AsyncIteratorProtocol {
    private var values: StatusHub.Values.Iterator

    init(hub: StatusHub) { values = hub.values.makeAsyncIterator() }

    /// Waits for a status that was not delivered yet.
    ///
    /// Returns `nil` after the session object was closed and its last status was delivered. Also
    /// returns `nil` if the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async
      -> SessionStatus?
    {
      await values.next(isolation: actor)
    }
  }
}

extension Session {
  /// What the session shows now.
  ///
  /// State, activity and user are of the same moment.
  public var status: SessionStatus { states.current }
}
