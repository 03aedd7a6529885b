internal import Synchronization

/// One place of the pool, with a connection or without.
///
/// The call that took it from the pool uses it alone. The lock is for the compiler, and never waited for.
final class ConnectionSlot: Sendable {
  private let wire = Mutex(Wire())

  var isConnected: Bool { wire.withLock { $0.isConnected } }
  var serverProcess: Int32 { wire.withLock { $0.serverProcess } }

  func connect(_ settings: [(String, String)], until end: Deadline) throws(ServerProblem) {
    try wire.withLock { wire throws(ServerProblem) in try wire.connect(settings, until: end) }
  }

  func disconnect() { wire.withLock { $0.disconnect() } }

  func run(_ statements: [Statement], silence: Duration) throws(ServerProblem) -> [Rows] {
    try wire.withLock { wire throws(ServerProblem) in try wire.run(statements, silence: silence) }
  }

  func send(_ statements: [Statement], silence: Duration) throws(ServerProblem) {
    try wire.withLock { wire throws(ServerProblem) in try wire.send(statements, silence: silence) }
  }

  func receive(silence: Duration) throws(ServerProblem) -> [Rows] {
    try wire.withLock { wire throws(ServerProblem) in try wire.receive(silence: silence) }
  }

  /// Ends an open transaction; a connection on which that fails is given up.
  func rollBack(silence: Duration) {
    wire.withLock { wire in
      guard wire.isInTransaction else { return }
      do throws(ServerProblem) {
        _ = try wire.run([Statement("ROLLBACK")], silence: silence)
      } catch {
        wire.disconnect()
      }
    }
  }
}

extension Duration {
  var nanoseconds: Int {
    let parts = components
    return Int(clamping: parts.seconds) * 1_000_000_000 + Int(parts.attoseconds / 1_000_000_000)
  }

  var milliseconds: Int { nanoseconds / 1_000_000 }
}

/// The time at which a call gives up.
struct Deadline: Sendable {
  private let end: ContinuousClock.Instant

  init(after limit: Duration) { end = .now + limit }

  /// What is left, in milliseconds, rounded up.
  var milliseconds: Int32 {
    let left = (end - .now).components
    guard left.seconds >= 0, left.attoseconds >= 0 else { return 0 }
    return Int32(
      clamping: left.seconds * 1_000 + (left.attoseconds + 999_999_999_999_999)
        / 1_000_000_000_000_000)
  }
}
