internal import CPostgres

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// One connection: the only file that calls libpq, and the only one with unsafe code.
///
/// A thread uses it alone, and it never blocks beyond a deadline. Statements are sent together in one
/// round trip (a pipeline).
struct Wire: ~Copyable {
  private var connection: OpaquePointer?
  /// Set by a notice: the wait of a commit for a synchronous standby was cancelled.
  private let isReplicationCancelled = UnsafeMutablePointer<Bool>.allocate(capacity: 1)
  /// The names of the statements that the server knows, by their text.
  private var prepared: [String: String] = [:]
  private var preparations = 0
  /// What was sent and not answered, in order; a preparation has a text.
  private var pending: [(name: String, sql: String?)] = []

  init() { isReplicationCancelled.initialize(to: false) }

  deinit {
    PQfinish(connection)
    isReplicationCancelled.deallocate()
  }

  /// Whether there is a connection, as far as this side knows.
  var isConnected: Bool { connection != nil && PQstatus(connection) == CONNECTION_OK }

  /// Whether a transaction is open on the connection.
  var isInTransaction: Bool { connection != nil && PQtransactionStatus(connection) != PQTRANS_IDLE }

  /// The number of the server's process for this connection.
  var serverProcess: Int32 { PQbackendPID(connection) }

  /// Ends the connection; an open transaction is rolled back by the server.
  mutating func disconnect() {
    PQfinish(connection)
    connection = nil
    prepared = [:]
    pending = []
  }

  /// Connects, and waits until the server is ready.
  mutating func connect(_ settings: [(String, String)], until end: Deadline)
    throws(ServerProblem)
  {
    disconnect()
    connection = withStrings(settings.map(\.0)) { names in
      withStrings(settings.map(\.1)) { values in PQconnectStartParams(names, values, 0) }
    }
    guard connection != nil, PQstatus(connection) != CONNECTION_BAD else { throw lost() }
    // Otherwise the library prints notices of the server, which may hold values of a row. Only the name of the
    // function that sent one is read: after `pg_cancel_backend` a commit succeeds with a mere warning of this one.
    isReplicationCancelled.pointee = false
    PQsetNoticeReceiver(
      connection,
      { flag, notice in
        guard let source = PQresultErrorField(notice, Int32(UInt8(ascii: "R"))) else { return }
        if String(cString: source) == "SyncRepWaitForLSN" {
          flag?.storeBytes(of: true, as: Bool.self)
        }
      }, isReplicationCancelled)
    // The first step is possible when the socket is writable: there is no answer before that.
    var next = PGRES_POLLING_WRITING
    while true {
      switch next {
      case PGRES_POLLING_OK:
        guard PQsetnonblocking(connection, 1) == 0, PQenterPipelineMode(connection) == 1 else {
          throw lost()
        }
        return
      case PGRES_POLLING_READING: try wait(POLLIN, until: end)
      case PGRES_POLLING_WRITING: try wait(POLLOUT, until: end)
      default: throw lost()
      }
      next = PQconnectPoll(connection)
    }
  }

  /// Sends the statements together, and returns the rows of each.
  ///
  /// `silence` is the longest wait for the server's next bytes. After a refusal the statements that
  /// follow are skipped. After any other problem the connection is gone.
  mutating func run(_ statements: [Statement], silence: Duration) throws(ServerProblem) -> [Rows] {
    try send(statements, silence: silence)
    return try receive(silence: silence)
  }

  /// Sends the statements without waiting for the answer; `receive` must follow.
  mutating func send(_ statements: [Statement], silence: Duration) throws(ServerProblem) {
    guard isConnected else { throw lost() }
    for statement in statements {
      let known = prepared[statement.sql] ?? pending.first { $0.sql == statement.sql }?.name
      let name = known ?? "s\(preparations)"
      if known == nil {
        preparations += 1
        guard PQsendPrepare(connection, name, statement.sql, 0, nil) == 1 else { throw lost() }
        pending.append((name, statement.sql))
      }
      guard sendPrepared(name, statement.parameters) else { throw lost() }
      pending.append((name, nil))
    }
    guard PQpipelineSync(connection) == 1 else { throw lost() }
    while true {
      switch PQflush(connection) {
      case 0: return
      case 1:
        try wait(POLLIN | POLLOUT, until: Deadline(after: silence))
        guard PQconsumeInput(connection) == 1 else { throw lost() }
      default: throw lost()
      }
    }
  }

  /// Waits for the rows of all statements that were sent.
  mutating func receive(silence: Duration) throws(ServerProblem) -> [Rows] {
    var found: [Rows] = []
    var refusal: ServerProblem?
    var answered = 0
    while true {
      while PQisBusy(connection) == 1 {
        try wait(POLLIN, until: Deadline(after: silence))
        guard PQconsumeInput(connection) == 1 else { throw lost() }
      }
      // Nil ends the results of one statement.
      guard let result = PQgetResult(connection) else {
        guard isConnected else { throw lost() }
        continue
      }
      defer { PQclear(result) }
      switch PQresultStatus(result) {
      case PGRES_PIPELINE_SYNC:
        pending = []
        if isReplicationCancelled.pointee {
          isReplicationCancelled.pointee = false
          if refusal == nil { refusal = .notReplicated }
        }
        guard let refusal else { return found }
        // The server has become a standby, so this connection can serve no append any more.
        if refusal == .refused(code: "25006") {
          disconnect()
          throw .unreachable(.standby)
        }
        throw refusal
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
        // Each statement has one result, in the order of sending.
        guard answered < pending.count else { throw lost() }
        let (name, sql) = pending[answered]
        answered += 1
        if let sql { prepared[sql] = name } else { found.append(rows(of: result)) }
      case PGRES_PIPELINE_ABORTED: answered += 1
      default:
        let code = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
        guard isConnected else { throw lost(by: code) }
        answered += 1
        if refusal == nil { refusal = .refused(code: code ?? "XX000") }
      }
    }
  }

  private func sendPrepared(_ name: String, _ parameters: [[UInt8]?]) -> Bool {
    let count = parameters.count
    // One byte more, so that an empty value has an address, too: no address is NULL.
    let bytes = Array(parameters.compactMap { $0 }.joined()) + [0]
    let lengths = parameters.map { Int32($0?.count ?? 0) }
    let formats = [Int32](repeating: 1, count: count)
    return bytes.withUnsafeBytes { buffer in
      var values: [UnsafePointer<CChar>?] = []
      var place = 0
      for parameter in parameters {
        if let parameter {
          values.append(buffer.baseAddress.map { ($0 + place).assumingMemoryBound(to: CChar.self) })
          place += parameter.count
        } else {
          values.append(nil)
        }
      }
      return PQsendQueryPrepared(connection, name, Int32(count), values, lengths, formats, 1) == 1
    }
  }

  private func rows(of result: OpaquePointer) -> Rows {
    let (count, columns) = (Int(PQntuples(result)), Int(PQnfields(result)))
    var cells: [Range<Int>?] = []
    var bytes: [UInt8] = []
    cells.reserveCapacity(count * columns)
    for row in 0..<Int32(count) {
      for column in 0..<Int32(columns) {
        guard PQgetisnull(result, row, column) == 0, let value = PQgetvalue(result, row, column)
        else {
          cells.append(nil)
          continue
        }
        let length = Int(PQgetlength(result, row, column))
        cells.append(bytes.count..<bytes.count + length)
        bytes += UnsafeRawBufferPointer(start: value, count: length)
      }
    }
    let affected = PQcmdTuples(result).map { Int(String(cString: $0)) ?? 0 } ?? 0
    return Rows(count: count, columns: columns, affected: affected, cells: cells, bytes: bytes)
  }

  /// Ends the connection, and returns why it failed.
  private mutating func lost(by code: String? = nil) -> ServerProblem {
    let message = PQerrorMessage(connection).map { String(cString: $0) } ?? ""
    disconnect()
    if let code, ["57P01", "57P02", "57P03"].contains(code) { return .unreachable(.starting) }
    return .unreachable(.init(message: message))
  }

  /// Waits for the socket; gives the connection up at the deadline.
  private mutating func wait(_ events: Int32, until end: Deadline) throws(ServerProblem) {
    var entry = pollfd(fd: PQsocket(connection), events: Int16(events), revents: 0)
    while true {
      let left = end.milliseconds
      let count = left > 0 ? poll(&entry, 1, left) : 0
      if count > 0 { return }
      if count < 0, errno == EINTR { continue }
      guard count < 0 || end.milliseconds <= 0 else { continue }
      disconnect()
      throw .silent
    }
  }
}

/// Calls `body` with a list of C strings that ends with nil.
private func withStrings<Value>(
  _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
) -> Value {
  let copies = strings.map { strdup($0) }
  defer {
    for copy in copies {
      // A value may be a password, so it does not stay in memory that is used again.
      if let copy { memset(copy, 0, strlen(copy)) }
      free(copy)
    }
  }
  let list = copies.map { UnsafePointer($0) } + [nil]
  return list.withUnsafeBufferPointer { buffer in
    withExtendedLifetime(copies) { buffer.baseAddress.map(body) ?? body([nil]) }
  }
}
