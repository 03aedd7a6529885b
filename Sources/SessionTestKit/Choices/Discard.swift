/// The error by which the body of a property discards a case: it neither holds nor fails.
///
/// A property fails as unhealthy if more than nine in ten of its cases are discarded.
///
/// - Requirement: TST-1
public struct Discard: Error, Hashable, Sendable {
  /// Creates the error.
  public init() {}
}
