import Foundation
import SessionJournal
import Synchronization
import Testing

@testable import PostgresLog

@Suite("Connections: hosts, silence, standby, the pool", .serialized, .timeLimit(.minutes(5)))
struct ConnectionTests {
  /// A host that accepts connections and never says anything, as one that swallows packets.
  private final class SilentHost: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let copy = descriptor
      let done = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(copy, $0, size) == 0 && listen(copy, 64) == 0 && getsockname(copy, $0, &size) == 0
        }
      }
      port = UInt16(bigEndian: address.sin_port)
      try #require(done)
    }

    deinit { close(descriptor) }
  }

  private func database(
    _ server: Server, _ connection: String,
    _ change: (inout PostgresDatabase.Options) -> Void = { _ in }
  ) throws -> PostgresDatabase {
    var options = PostgresDatabase.Options()
    options.schema = server.schema
    change(&options)
    return try PostgresDatabase(
      connection: "\(Server.connection) application_name=\(server.application) \(connection)",
      options: options)
  }

  @Test("SCL-1 a host that swallows packets is left for the next one, and not tried first again")
  func hosts() throws {
    let server = try Server()
    let silent = try SilentHost()
    let database = try database(
      server, "host=127.0.0.1,\(Server.socket) port=\(silent.port),5432 connect_timeout=60"
    ) { ($0.connectLimit, $0.answerLimit) = (.seconds(2), .seconds(5)) }
    let place = PostgresLogPlace("a", in: database)
    try place.open { _, _ in }.append("one")
    server.endConnections()
    let start = ContinuousClock.now
    #expect(try texts(place) == ["one"])
    #expect(.now - start < .seconds(2))
  }

  @Test("SCL-1 lists of hosts, addresses and ports are split, and others are left to the library")
  func lists() throws {
    func hosts(_ connection: String) throws -> [String] {
      try ConnectionSettings(connection).hosts.map { host in
        host.filter { ["host", "hostaddr", "port"].contains($0.0) }.map { "\($0.0)=\($0.1)" }
          .joined(separator: " ")
      }
    }
    #expect(try hosts("host=a port=1") == ["host=a port=1"])
    #expect(try hosts("host=a,b port=1") == ["host=a port=1", "host=b port=1"])
    #expect(try hosts("host=a,b port=1,2") == ["host=a port=1", "host=b port=2"])
    #expect(
      try hosts("postgresql://a:1,b:2/app?hostaddr=10.0.0.1,10.0.0.2")
        == ["host=a hostaddr=10.0.0.1 port=1", "host=b hostaddr=10.0.0.2 port=2"])
    #expect(try hosts("host=a,b port=1,2,3") == ["host=a,b port=1,2,3"])
    #expect(
      try ConnectionSettings("host=a connect_timeout=9").hosts[0].allSatisfy {
        $0.0 != "connect_timeout"
      })
  }

  @Test("SCL-1 a server that is silent holds one call at a time, and the others fail at once")
  func silentServer() throws {
    let server = try Server()
    let silent = try SilentHost()
    let database = try database(server, "host=127.0.0.1 port=\(silent.port)") {
      ($0.connectLimit, $0.connections) = (.seconds(2), 4)
    }
    @Sendable func look() -> Duration {
      let start = ContinuousClock.now
      let found = PostgresLogPlace("a", in: database).presence()
      guard case .unknown(.unavailable(_, "the server did not answer in time")) = found else {
        Issue.record("\(found)")
        return .zero
      }
      return .now - start
    }
    #expect(look() < .seconds(4))
    Thread.sleep(forTimeInterval: 0.3)
    let slow = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      if look() > .seconds(1) { slow.withLock { $0 += 1 } }
    }
    #expect(slow.withLock { $0 } == 1)
  }

  @Test("SCL-1 an answer that takes longer than the limit is read, as long as it goes on")
  func longAnswer() throws {
    let server = try Server()
    let database = try server.database()
    let rows = try database.withConnection { slot throws(ServerProblem) in
      try database.begin(
        [
          Statement(
            "SELECT repeat('x', 9000), pg_sleep(0.02)::text FROM generate_series(1, 100)")
        ], on: slot, silence: .milliseconds(700))
    } problem: {
      $0
    }
    #expect(rows[0].count == 100)
  }

  @Test("SCL-1 a server that becomes read-only loses its connections, and is used again later")
  func standby() throws {
    let server = try Server()
    let place = PostgresLogPlace("a", in: try server.database())
    let log = try place.open { _, _ in }
    try log.append("one")
    func setReadOnly(_ value: String) throws {
      let owner = try database(server, "options='-c default_transaction_read_only=off'")
      try owner.withOwner { slot throws(ServerProblem) in
        _ = try slot.run(
          [Statement("ALTER SYSTEM SET default_transaction_read_only = \(value)")],
          silence: .seconds(20))
        _ = try slot.run([Statement("SELECT pg_reload_conf()")], silence: .seconds(20))
      }
    }
    try setReadOnly("on")
    defer {
      do { try setReadOnly("off") } catch { Issue.record(error) }
    }
    var found: JournalError?
    let start = ContinuousClock.now
    while found == nil, .now - start < .seconds(10) {
      do throws(TransactionError<Void, Never>) { try log.append("two") } catch {
        found = error.journalError
      }
    }
    #expect(
      found
        == .unavailable(
          path: place.name, problem: "the server is a standby, which cannot write"))
    #expect(place.database.openConnections == 0)
    try setReadOnly("off")
    Thread.sleep(forTimeInterval: 0.5)
    try log.append("last")
    #expect(try texts(place).last == "last")
  }

  @Test("SCL-1 a lost synchronous standby is named, and one commit for each log waits for it")
  func lostStandby() throws {
    func setStandby(_ name: String) throws {
      try Server.ask("ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
      try Server.ask("SELECT pg_reload_conf()")
    }
    func waiting() throws -> Int64 {
      try Server.ask(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' "
          + "AND application_name = '\(server.application)'"
      ).integer(0, 0)
    }
    let server = try Server()
    let database = try server.database {
      ($0.statementLimit, $0.answerLimit) = (.milliseconds(500), .seconds(1))
    }
    let place = PostgresLogPlace("a", in: database)
    let log = try place.open { _, _ in }
    try log.append("one")
    let other = PostgresLogPlace("b", in: database)
    let cancelledLog = try other.open { _, _ in }
    @Sendable func problem(of log: PostgresLog, _ text: String) -> JournalError? {
      do throws(TransactionError<Void, Never>) {
        try log.append(text)
        return nil
      } catch {
        return error.journalError
      }
    }
    let missing = JournalError.unavailable(
      path: place.name, problem: ServerProblem.standbyMissing.explanation)
    try setStandby("missing")
    do {
      defer {
        do { try setStandby("") } catch { Issue.record(error) }
      }
      // The reload reaches each process of the server a little later.
      var number = 0
      while try waiting() == 0, number < 100 {
        number += 1
        let found = problem(of: log, "waits")
        #expect(found == nil || found == missing)
      }
      #expect(try waiting() == 1)
      for _ in 0..<3 { #expect(problem(of: log, "other") == missing) }
      #expect(try waiting() == 1, "no further connection waits for the same log")

      let cancelled = Mutex<JournalError?>(nil)
      Thread {
        let found = problem(of: cancelledLog, "cancelled")
        cancelled.withLock { $0 = found }
      }.start()
      let end = ContinuousClock.now + .seconds(20)
      while cancelled.withLock({ $0 }) == nil, .now < end {
        try Server.ask(
          "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' "
            + "AND query_start > clock_timestamp() - interval '400 milliseconds'")
      }
      #expect(
        cancelled.withLock { $0 }
          == .unavailable(
            path: other.name, problem: ServerProblem.notReplicated.explanation))
    }
    // The server releases the waiting commits, so each of them is there.
    Thread.sleep(forTimeInterval: 0.5)
    try log.append("last")
    #expect(try texts(place).suffix(2) == ["waits", "last"])
  }

  @Test("SCL-1 each new connection looks at the version of the schema")
  func version() throws {
    let server = try Server()
    let place = PostgresLogPlace("a", in: try server.database())
    let log = try place.open { _, _ in }
    try Server.ask("UPDATE \(server.schema).version SET version = 9")
    try log.append("the connection is an old one")
    server.endConnections()
    #expect(
      throws: JournalError.unavailable(
        path: place.name, problem: ServerProblem.schemaVersion(found: 9).explanation)
    ) { try log.hasNews() }
  }

  @Test("SCL-1 without a free connection a commit is busy, and a read is unavailable")
  func poolIsFull() throws {
    let server = try Server()
    let database = try server.database {
      ($0.connections, $0.connectionWait) = (1, .milliseconds(50))
    }
    let place = PostgresLogPlace("a", in: database)
    let log = try place.open { _, _ in }
    try log.append("one")
    let full = JournalError.unavailable(
      path: place.name, problem: ServerProblem.noConnection.explanation)
    try database.withConnection { _ throws(any Error) in
      #expect(throws: full) { try log.hasNews() }
      #expect(throws: full) { try log.records(after: 0, limit: 1) }
      do throws(TransactionError<Void, Never>) { try log.append("two") } catch {
        #expect(error.journalError == .busy(path: place.name, waited: 50))
      }
      #expect(database.openConnections == 1)
    } problem: {
      $0
    }
    #expect(try texts(place) == ["one"])
  }

  @Test("SCL-1 nothing is printed for a notice of the server")
  func notices() throws {
    let server = try Server()
    let ended = try server.start("postgreslog", ["--schema", server.schema, "create"]).end()
    #expect(ended.status == 0)
    #expect(ended.output == "postgres:postgres/\(server.schema) is ready\n")
  }
}
