@_spi(Internals) public import SessionCore

/// A session that is led from event to event by draws, in a test whose own acts come in between.
///
/// ```swift
/// var walk = SessionWalk()
/// while choices.chance(15, in: 16) {
///   if choices.chance(1, in: 2) { app.type("x") } else { app.receive(walk.step(choices)) }
/// }
/// ```
/// Real events with payloads as generators draw them; the state is their fold.
public struct SessionWalk: Sendable {
  /// What has happened, folded as a journal is.
  package private(set) var fold = SessionFold()
  /// The same, as the reference model tells it.
  public private(set) var model = SessionModel()
  /// The events that have happened, in order.
  public private(set) var events: [RecordedEvent] = []

  /// Nobody was ever signed in.
  public init() {}

  /// The state after the last event.
  public var state: SessionState { fold.state }

  /// Draws an event that may happen now, and lets it happen.
  ///
  /// It is told as a step with the state that it leads to, and the row of the transition table that it
  /// meets labels the case.
  @discardableResult
  public mutating func step(_ choices: Choices) -> SessionEvent {
    let event = choices.legalEvent(after: model)
    if let row = TransitionRow(event, after: model) { choices.label(row.label) }
    take(event)
    choices.step(event.line, state: state.line)
    return event
  }

  /// Lets this event happen; says why it may not, and then nothing changes.
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
  /// An event that may happen next, with any payload; the simplest has plain values.
  public func legalEvent(after model: SessionModel) -> SessionEvent {
    legalEvent(model, request: 0)
  }

  /// An event whose user and token are near those of the session: legal, or illegal by a hair.
  public func nearEvent(after model: SessionModel) -> SessionEvent {
    nearEvent(model)
  }
}
