@_spi(Internals) public import SessionCore

/// A session that draws lead from event to event, between the actions of a test.
///
/// ```swift
/// var walk = SessionWalk()
/// while choices.chance(15, in: 16) {
///   if choices.chance(1, in: 2) { app.type("x") } else { app.receive(walk.step(choices)) }
/// }
/// ```
/// The events have payloads as generators draw them. The state is their fold.
public struct SessionWalk: Sendable {
  /// The fold of the events so far.
  package private(set) var fold = SessionFold()
  /// The reference model after the same events.
  public private(set) var model = SessionModel()
  /// The events so far, in order.
  public private(set) var events: [RecordedEvent] = []

  /// Creates a walk without a user.
  public init() {}

  /// The state after the last event.
  public var state: SessionState { fold.state }

  /// Draws a legal event, and applies it.
  ///
  /// The event is recorded as a step with the resulting state. Its row of the transition table
  /// becomes a label of the case.
  @discardableResult
  public mutating func step(_ choices: Choices) -> SessionEvent {
    let event = choices.legalEvent(after: model)
    if let row = TransitionRow(event, after: model) { choices.label(row.label) }
    take(event)
    choices.step(event.line, state: state.line)
    return event
  }

  /// Applies an event; returns the rejection if it is illegal, and then nothing changes.
  @discardableResult
  public mutating func take(_ event: SessionEvent) -> SessionRejection? {
    let recorded = RecordedEvent(
      sequence: fold.sequence + 1,
      time: Timestamp.plainStart.advanced(by: Int64(clamping: fold.sequence) * 1_000),
      event: event)
    do {
      try fold.apply(
        SessionRecord(
          sequence: recorded.sequence, time: recorded.time, content: .event(event)))
    } catch {
      guard case .illegal(let rejection, _) = error else { return nil }
      return rejection
    }
    model.take(event)
    events.append(recorded)
    return nil
  }
}

extension Choices {
  /// Draws an event that is legal next, with any payload; the simplest has plain values.
  public func legalEvent(after model: SessionModel) -> SessionEvent {
    legalEvent(model, request: 0)
  }

  /// Draws an event whose user and token are near those of the session: legal or almost legal.
  public func nearEvent(after model: SessionModel) -> SessionEvent {
    nearEvent(model)
  }
}
