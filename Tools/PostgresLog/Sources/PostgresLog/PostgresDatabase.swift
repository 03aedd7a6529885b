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

    /// How long the server works on one statement; default 4 s.
    public var statementLimit = Duration.seconds(4)

    /// How long a transaction may be idle, before the server ends it; default 3 s.
    ///
    /// So a process that was stopped in a decision does not hold a log any longer. Sessions of others
    /// try again for five seconds, so a smaller value spares them an error.
    public var idleLimit = Duration.seconds(3)

    /// How long the server may be silent during a call, before the call gives the connection up;
    /// default 6 s.
    ///
    /// It must be longer than ``statementLimit``, so that the server ends a slow statement first. A call
    /// may send several statements at once, and the server answers after the last one. So a call whose
    /// statements are all slow is given up although the server works.
    public var answerLimit = Duration.seconds(6)

    /// How long connecting to one host may take; default 3 s.
    ///
    /// It replaces `connect_timeout` of the connection string. If there are several hosts, each has
    /// this time.
    public var connectLimit = Duration.seconds(3)

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
  private let connector: Connector
  private let free: DispatchSemaphore
  private let slots: [ConnectionSlot]
  /// The slots that no call uses; the one that was used last is the last.
  private let idle: Mutex<[ConnectionSlot]>

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
    let settings = try ConnectionSettings(connection)
    guard LogSQL.isName(options.schema) else { throw .schemaName(options.schema) }
    guard options.connections >= 1 else { throw .connections(options.connections) }
    guard options.answerLimit > options.statementLimit else {
      throw .answerLimit(options.answerLimit, statementLimit: options.statementLimit)
    }
    self.options = options
    self.onStep = onStep
    name = "postgres:\(options.label ?? settings.database)/\(options.schema)"
    sql = LogSQL(schema: options.schema)
    connector = Connector(settings, limit: options.connectLimit)
    free = DispatchSemaphore(value: options.connections)
    slots = (0..<options.connections).map { _ in ConnectionSlot() }
    idle = Mutex(slots)
    follower = Follower(interval: options.followInterval)
  }

  /// The number of connections that are open now.
  public var openConnections: Int { slots.count { $0.isConnected } }

  /// Closes all connections that no call uses; later calls connect again.
  public func disconnect() {
    idle.withLock { idle in
      for slot in idle { slot.disconnect() }
    }
  }

  /// Calls `work` with a connection that no other call uses.
  ///
  /// `work` must not end a transaction half: an open one is rolled back afterwards.
  func withConnection<Value, Failure: Error>(
    _ work: (ConnectionSlot) throws(Failure) -> Value, problem: (ServerProblem) -> Failure
  ) throws(Failure) -> Value {
    guard free.wait(timeout: .now() + .nanoseconds(options.connectionWait.nanoseconds)) == .success
    else { throw problem(.noConnection) }
    defer { free.signal() }
    guard let slot = idle.withLock({ $0.popLast() }) else { throw problem(.noConnection) }
    defer {
      slot.rollBack(silence: options.answerLimit)
      // Connections that work are used first.
      idle.withLock { slot.isConnected ? $0.append(slot) : $0.insert(slot, at: 0) }
    }
    return try work(slot)
  }

  /// Runs statements that begin something, on a connection that works.
  ///
  /// A connection that broke while it was unused is replaced once. So is one whose server has become
  /// a standby meanwhile.
  ///
  /// `silence` is longer than the options say for work that is no call of a session.
  func begin(_ statements: [Statement], on slot: ConnectionSlot, silence: Duration? = nil)
    throws(ServerProblem) -> [Rows]
  {
    let silence = silence ?? options.answerLimit
    let isFresh = try connect(slot)
    do throws(ServerProblem) {
      return try slot.run(statements, silence: silence)
    } catch {
      guard !isFresh, case .unreachable = error else { throw error }
      _ = try connect(slot)
      return try slot.run(statements, silence: silence)
    }
  }

  /// Runs statements in a transaction that `begin` has begun.
  ///
  /// `silence` is longer than the options say for work that is no call of a session.
  func goOn(_ statements: [Statement], on slot: ConnectionSlot, silence: Duration? = nil)
    throws(ServerProblem) -> [Rows]
  {
    try slot.run(statements, silence: silence ?? options.answerLimit)
  }

  /// Returns the problem, or ``ServerProblem/standbyMissing`` if that is why a commit was silent or a lock is held.
  ///
  /// A lost synchronous standby stops each commit for as long as it is missing, in PostgreSQL 15 and 17 without
  /// regard to `statement_timeout`. The commit keeps its lock, so without this other calls would only be busy.
  func reason(for problem: ServerProblem, on slot: ConnectionSlot) -> ServerProblem {
    slot.rollBack(silence: options.answerLimit)
    do throws(ServerProblem) {
      let rows = try begin([LogSQL.stalledCommit(after: options.statementLimit)], on: slot)
      return rows[0].count > 0 ? .standbyMissing : problem
    } catch {
      // The first problem is what the caller met.
      return problem
    }
  }

  /// Connects if there is no connection; returns whether it is new.
  private func connect(_ slot: ConnectionSlot) throws(ServerProblem) -> Bool {
    guard !slot.isConnected else { return false }
    try connector.connect(slot) { () throws(ServerProblem) in
      let rows = try slot.run(
        LogSQL.preparation(options) + [sql.readVersion], silence: options.connectLimit)
      let found = Int(rows.last?.integer(0, 0) ?? 0)
      guard found == LogSQL.version else { throw .schemaVersion(found: found) }
    }
    return true
  }

  /// Connects without a look at the version of the schema, which may be missing.
  func withOwner<Value>(_ work: (ConnectionSlot) throws(ServerProblem) -> Value)
    throws(ServerProblem) -> Value
  {
    let slot = ConnectionSlot()
    try connector.connect(slot) { () throws(ServerProblem) in
      _ = try slot.run(LogSQL.preparation(options), silence: options.connectLimit)
    }
    defer { slot.disconnect() }
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
