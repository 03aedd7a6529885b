public import Foundation

// `localizedDescription` of the errors of tests has the same text as `description`.

extension Discard: LocalizedError {
  /// A sentence that says what happened.
  public var errorDescription: String? { "This case was discarded. It shows nothing." }
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
