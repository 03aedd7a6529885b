public import Foundation

// `localizedDescription` of the errors of tests: the same words as in `description`.

extension Discard: LocalizedError {
  /// What happened.
  public var errorDescription: String? { "This case says nothing, and was discarded." }
}

extension Falsified: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}

extension UnexpectedOutcome: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}

extension ReplayCode.Failure: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}

extension LoopbackError: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}

extension SimulatedWorld.UnfinishedTask: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}
