/// Holds requests of one endpoint back until a test lets them go.
///
/// Closed from the moment ``LoopbackServer/hold(_:at:)`` returns it. Requests pass in order of
/// arrival. Dropping the value opens nothing; stopping the server ends the held connections.
public struct LoopbackGate: Sendable {
  let desk: LoopbackMailbox
  let id: Int

  /// How many requests wait here now.
  public var waiting: Int { desk.waiting(atGate: id) }

  /// Lets everybody through, now and from now on; a second time does nothing.
  public func open() { desk.openGate(id) }

  /// Lets this many requests through: those that wait longest, then the next to arrive.
  public func admit(_ count: Int) { desk.admit(count, atGate: id) }

  /// Lets the request through that arrived last; does nothing if none waits.
  public func admitNewest() { desk.admitNewest(atGate: id) }
}
