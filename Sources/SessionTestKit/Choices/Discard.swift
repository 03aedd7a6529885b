/// Thrown by the body of a property: this case says nothing, count it apart.
///
/// A property of which more than nine cases in ten are discarded fails as unhealthy.
///
/// - Requirement: TST-1
public struct Discard: Error, Hashable, Sendable {
  /// A discarded case.
  public init() {}
}
