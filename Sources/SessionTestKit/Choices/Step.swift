/// One line of a case's report: an action, and the state after it.
public struct Step: Hashable, Sendable {
  /// The action.
  public let text: String
  /// The resulting state, if the body gave one.
  public let state: String?
  /// The virtual time since the case's `SimulatedWorld` began; `nil` if the case has none.
  public let time: Duration?
  /// Whether the world acted and not the body.
  ///
  /// Examples are a task that ran out of turn, a request's fate, or a timer.
  public let isSchedule: Bool

  /// Creates a step.
  public init(
    _ text: String, state: String? = nil, time: Duration? = nil, isSchedule: Bool = false
  ) {
    self.text = text
    self.state = state
    self.time = time
    self.isSchedule = isSchedule
  }
}
