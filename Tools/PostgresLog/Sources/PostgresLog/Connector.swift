internal import Synchronization

/// Connects the connections of a pool: which host is tried first, and whether one is tried at all.
///
/// The library moves to the next host only after an answer, so a host that swallows packets would hold
/// the call. So each host is an attempt of its own here, with a deadline.
///
/// After a failed attempt, calls fail at once for a while. Then one call tries again, and the others
/// still fail at once. So a server that does not answer holds one thread, not all of them.
final class Connector: Sendable {
  /// How long no attempt follows a failed one.
  private static let pause = Duration.milliseconds(250)

  /// The settings of each host, at least one.
  private let hosts: [[(String, String)]]
  /// How long one attempt at one host may take.
  private let limit: Duration
  private let state = Mutex(State())

  private struct State {
    /// The host that worked last.
    var host = 0
    /// The last attempt has failed.
    var outage: Outage?
  }

  private struct Outage {
    let problem: ServerProblem
    /// The time of the next attempt.
    let end: ContinuousClock.Instant
    /// Whether a call is making it.
    var isProbed = false
  }

  init(_ settings: ConnectionSettings, limit: Duration) {
    (hosts, self.limit) = (settings.hosts, limit)
  }

  /// Connects to the first host that works and on which `prepare` succeeds.
  ///
  /// Throws the problem of the last one.
  func connect(
    _ slot: ConnectionSlot, prepare: () throws(ServerProblem) -> Void
  ) throws(ServerProblem) {
    let (first, isProbe) = try admit()
    var found = ServerProblem.silent
    for host in hosts.indices.map({ (first + $0) % hosts.count }) {
      do throws(ServerProblem) {
        try slot.connect(hosts[host], until: Deadline(after: limit))
        try prepare()
        state.withLock { $0 = State(host: host) }
        return
      } catch {
        slot.disconnect()
        found = error
        // The server is there, and another one has the same schema.
        guard error.isOfConnection else { break }
      }
    }
    state.withLock { state in
      if found.isOfConnection {
        state.outage = Outage(problem: found, end: .now + Self.pause)
      } else if isProbe {
        state.outage = nil
      }
    }
    throw found
  }

  /// Returns the host to begin with, and whether this call is the one that tries again.
  private func admit() throws(ServerProblem) -> (host: Int, isProbe: Bool) {
    try state.withLock { state throws(ServerProblem) in
      guard let outage = state.outage else { return (state.host, false) }
      guard !outage.isProbed, outage.end <= .now else { throw outage.problem }
      state.outage?.isProbed = true
      return (state.host, true)
    }
  }
}
