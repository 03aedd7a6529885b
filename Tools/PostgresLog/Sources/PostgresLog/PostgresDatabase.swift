internal import Dispatch
internal import Synchronization

/// A schema of a PostgreSQL server that holds logs and secrets, and a bounded pool of connections to it.
///
/// One object serves any number of logs. A call takes a connection from the pool and gives it back
/// when it returns, so 10,000 sessions need no more connections than threads that work for them.
///
/// The connection string may hold a password. No error, name or description contains any part of it.
///
/// - Requirement: SCL-1
public final class PostgresDatabase: Sendable {
  /// How a server is used.
  public struct Options: Sendable {
    /// The name of the schema: a lowercase letter, then lowercase letters, digits and `_`.
    public var schema = "session_log"

    /// The name of the database in the names of its logs; nil for the name in the connection string.
    ///
    /// All processes need the same one. It is not secret.
    public var label: String?

    /// The most connections, at least 1; default 8.
    public var connections = 8

    /// How long a call waits for another opening of its log; default 10 ms.
    public var lockWait = Duration.milliseconds(10)

    /// How long the server works on one statement; default 10 s.
    public var statementLimit = Duration.seconds(10)

    /// How long a transaction may be idle, before the server ends it; default 3 s.
    ///
    /// So a process that was stopped in a decision does not hold a log any longer. Sessions of others
    /// try again for five seconds, so a smaller value spares them an error.
    public var idleLimit = Duration.seconds(3)

    /// How long a call waits for the server, before it gives the connection up; default 15 s.
    public var answerLimit = Duration.seconds(15)

    /// How long a call waits for a free connection; default 1 s.
    public var connectionWait = Duration.seconds(1)

    /// How often the changes of others are asked for, for all logs together; default 1 s.
    public var followInterval = Duration.seconds(1)

    /// Creates the defaults above.
    public init() {}
  }

  /// The options that were given.
  public let options: Options

  /// The name of the database in names of logs: its label and schema, without secrets.
  public let name: String

  let sql: LogSQL
  let follower: Follower
  private let settings: ConnectionSettings
  private let free: DispatchSemaphore
  private let slots: Mutex<[ConnectionSlot]>
  private let state = Mutex(State())

  private struct State {
    /// Whether a connection has found the right version of the schema.
    var isVersionKnown = false
    /// No connection is tried before this time, since one has just failed.
    var pause: (end: ContinuousClock.Instant, problem: ServerProblem)?
  }

  /// A hook for tests: called at each step of a commit.
  let onStep: @Sendable (LogStep) -> Void

  /// Creates the pool; connects when a connection is needed first.
  ///
  /// - Parameter connection: a connection string or address of libpq
  ///   (`host=/run/postgresql dbname=app`, `postgresql://…`). Empty takes all from libpq's variables
  ///   (PGHOST, PGPASSWORD, and so on).
  /// - Throws: ``PostgresConfigurationError`` if the string or an option cannot be used.
  public convenience init(connection: String, options: Options = Options())
    throws(PostgresConfigurationError)
  {
    try self.init(connection: connection, options: options, onStep: { _ in })
  }

  package init(
    connection: String, options: Options, onStep: @escaping @Sendable (LogStep) -> Void
  ) throws(PostgresConfigurationError) {
    settings = try ConnectionSettings(connection, options)
    guard LogSQL.isName(options.schema) else { throw .schemaName(options.schema) }
    guard options.connections >= 1 else { throw .connections(options.connections) }
    self.options = options
    self.onStep = onStep
    name = "postgres:\(options.label ?? settings.database)/\(options.schema)"
    sql = LogSQL(schema: options.schema)
    free = DispatchSemaphore(value: options.connections)
    slots = Mutex((0..<options.connections).map { _ in ConnectionSlot() })
    follower = Follower(interval: options.followInterval)
  }

  /// The number of connections that are open now.
  public var openConnections: Int {
    slots.withLock { slots in slots.filter(\.isConnected).count }
  }

  /// Closes all connections that no call uses; later calls connect again.
  public func disconnect() {
    let idle = slots.withLock { $0 }
    for slot in idle { slot.disconnect() }
  }

  /// Calls `work` with a connection that no other call uses.
  ///
  /// `work` must not end a transaction half: an open one is rolled back afterwards.
  func withConnection<Value, Failure: Error>(
    _ work: (ConnectionSlot) throws(Failure) -> Value, problem: (ServerProblem) -> Failure
  ) throws(Failure) -> Value {
    guard free.wait(timeout: .now() + .nanoseconds(options.connectionWait.nanoseconds)) == .success
    else { throw problem(.noConnection) }
    let slot = slots.withLock { $0.popLast() } ?? ConnectionSlot()
    defer {
      slot.rollBack(until: Deadline(after: options.answerLimit))
      slots.withLock { $0.append(slot) }
      free.signal()
    }
    return try work(slot)
  }

  /// Runs statements that begin something, on a connection that works.
  ///
  /// A connection that broke while it was unused is replaced once.
  func begin(_ statements: [Statement], on slot: ConnectionSlot) throws(ServerProblem) -> [Rows] {
    let isFresh = try connect(slot)
    do throws(ServerProblem) {
      return try slot.run(statements, until: Deadline(after: options.answerLimit))
    } catch {
      guard !isFresh, case .unreachable = error else { throw error }
      _ = try connect(slot)
      return try slot.run(statements, until: Deadline(after: options.answerLimit))
    }
  }

  /// Runs statements in a transaction that `begin` has begun.
  func goOn(_ statements: [Statement], on slot: ConnectionSlot) throws(ServerProblem) -> [Rows] {
    try slot.run(statements, until: Deadline(after: options.answerLimit))
  }

  /// Connects if there is no connection; returns whether it is new.
  private func connect(_ slot: ConnectionSlot) throws(ServerProblem) -> Bool {
    guard !slot.isConnected else { return false }
    if let pause = state.withLock({ $0.pause }), pause.end > .now { throw pause.problem }
    do throws(ServerProblem) {
      let end = Deadline(after: options.answerLimit)
      try slot.connect(settings.values, until: end)
      _ = try slot.run(LogSQL.preparation(options), until: end)
      try requireVersion(slot, until: end)
      state.withLock { $0.pause = nil }
      return true
    } catch {
      slot.disconnect()
      if error.isOfConnection {
        state.withLock { $0.pause = (.now + .milliseconds(250), error) }
      }
      throw error
    }
  }

  private func requireVersion(_ slot: ConnectionSlot, until end: Deadline) throws(ServerProblem) {
    guard !state.withLock({ $0.isVersionKnown }) else { return }
    let rows = try slot.run([sql.readVersion], until: end)
    let found = rows.first?.integer(0, 0) ?? 0
    guard found == LogSQL.version else { throw .schemaVersion(found: Int(found)) }
    state.withLock { $0.isVersionKnown = true }
  }

  /// Connects without a look at the version of the schema, which may be missing.
  func withOwner<Value>(_ work: (ConnectionSlot) throws(ServerProblem) -> Value)
    throws(ServerProblem) -> Value
  {
    let slot = ConnectionSlot()
    let end = Deadline(after: options.answerLimit)
    try slot.connect(settings.values, until: end)
    defer { slot.disconnect() }
    _ = try slot.run(LogSQL.preparation(options), until: end)
    return try work(slot)
  }
}

/// A step of a call, for tests that fail there.
package enum LogStep: String, CaseIterable, Sendable {
  /// The log is locked, and the records of others were read.
  case locked
  /// The decision has been made.
  case decided
  /// The batch and the commit were sent, and no answer was read.
  case sent
  /// The commit was answered.
  case committed
}

extension PostgresDatabase: CustomStringConvertible, CustomReflectable {
  /// The name of the database; never a part of the connection string except the database's name.
  public var description: String { name }

  /// Shows the name only.
  public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

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

  func run(_ statements: [Statement], until end: Deadline) throws(ServerProblem) -> [Rows] {
    try wire.withLock { wire throws(ServerProblem) in try wire.run(statements, until: end) }
  }

  func send(_ statements: [Statement], until end: Deadline) throws(ServerProblem) {
    try wire.withLock { wire throws(ServerProblem) in try wire.send(statements, until: end) }
  }

  func receive(until end: Deadline) throws(ServerProblem) -> [Rows] {
    try wire.withLock { wire throws(ServerProblem) in try wire.receive(until: end) }
  }

  /// Ends an open transaction; a connection on which that fails is given up.
  func rollBack(until end: Deadline) {
    wire.withLock { wire in
      guard wire.isInTransaction else { return }
      do throws(ServerProblem) {
        _ = try wire.run([Statement("ROLLBACK")], until: end)
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
