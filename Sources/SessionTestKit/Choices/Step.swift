/// One line of what happened in a case: what was done, and the state after it.
public struct Step: Hashable, Sendable {
  /// What was done.
  public let text: String
  /// What it led to, where the body tells it.
  public let state: String?

  /// A step.
  public init(_ text: String, state: String? = nil) {
    self.text = text
    self.state = state
  }
}
