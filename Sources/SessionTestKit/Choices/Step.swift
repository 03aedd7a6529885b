/// One line of what happened in a case: what was done, and the state after it.
public struct Step: Hashable, Sendable {
  /// What was done.
  public let text: String
  /// What it led to, where the body tells it.
  public let state: String?
  /// When, in virtual time since the case's `SimulatedWorld` began; `nil` without one.
  public let time: Duration?
  /// Whether the world did it and not the body: a task that ran out of turn, a request's fate, a
  /// timer.
  public let isSchedule: Bool

  /// A step.
  public init(
    _ text: String, state: String? = nil, time: Duration? = nil, isSchedule: Bool = false
  ) {
    self.text = text
    self.state = state
    self.time = time
    self.isSchedule = isSchedule
  }
}
