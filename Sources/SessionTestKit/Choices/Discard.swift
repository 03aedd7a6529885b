/// Thrown by the body of a property: this case says nothing, count it apart (TST-1).
///
/// A property of which more than nine cases in ten are discarded fails as unhealthy.
public struct Discard: Error, Hashable, Sendable {
  /// A discarded case.
  public init() {}
}
