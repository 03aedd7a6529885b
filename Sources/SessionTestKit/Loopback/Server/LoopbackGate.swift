/// A gate that holds requests of one endpoint back until a test lets them pass.
///
/// It is closed when ``LoopbackServer/hold(_:at:)`` returns it. Requests pass in order of arrival.
/// Dropping the value does not open the gate. If the server stops, the held connections end.
public struct LoopbackGate: Sendable {
  let desk: LoopbackMailbox
  let id: Int

  /// The number of requests that wait at the gate now.
  public var waiting: Int { desk.waiting(atGate: id) }

  /// Opens the gate permanently: all requests pass, now and later.
  ///
  /// A second call does nothing.
  public func open() { desk.openGate(id) }

  /// Lets this many requests pass: first those that wait, the oldest first, then the next to
  /// arrive.
  public func admit(_ count: Int) { desk.admit(count, atGate: id) }

  /// Lets the request pass that arrived last; does nothing if none waits.
  ///
  /// A gate before acting holds a request from its arrival on: after
  /// ``LoopbackServer/received(_:count:)`` the request waits. At a gate after acting it may wait later.
  public func admitNewest() { desk.admitNewest(atGate: id) }
}
