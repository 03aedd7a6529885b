/// What a session shows, from now on: the current status first, then each newer one.
///
/// Only the newest counts: a slow subscriber is given the newest status, not those that it missed, so
/// that it never shows a past one and never holds the session back; whoever must see each change reads
/// the events. Every iterator begins with the status that is current when it is first asked. It never
/// fails, and ends when the session object is closed or gone, or the task is cancelled.
///
/// - Requirement: STA-7
public struct SessionStates: AsyncSequence, Sendable {
  /// What is shown at one moment.
  public typealias Element = SessionStatus
  /// It never fails.
  public typealias Failure = Never

  let hub: StatusHub

  /// What is shown now.
  package var current: SessionStatus { hub.current }
  /// Whether the session object is closed or gone.
  package var isFinished: Bool { hub.isFinished }

  /// Begins with the current status.
  public func makeAsyncIterator() -> Iterator { Iterator(hub: hub) }

  /// Walks from status to newer status.
  public struct Iterator: AsyncIteratorProtocol {
    private var values: StatusHub.Values.Iterator

    init(hub: StatusHub) { values = hub.values.makeAsyncIterator() }

    /// Waits for a status that was not delivered yet.
    ///
    /// Returns `nil` after the session object is closed and its last status was delivered, or if the task
    /// is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async
      -> SessionStatus?
    {
      await values.next(isolation: actor)
    }
  }
}

extension Session {
  /// What the session shows now: state, activity and user that belong together.
  public var status: SessionStatus { states.current }
}
