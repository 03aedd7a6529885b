import Foundation
import SessionCore
import SessionJournal
import SessionKit
import Synchronization
import Testing

@testable import PostgresLog

@Suite("The database: schema, roles, pool, followers", .serialized, .timeLimit(.minutes(5)))
struct DatabaseTests {
  @Test("SCL-1 without a schema, or with another version, nothing is proven absent")
  func schema() throws {
    let server = try Server(creating: false)
    let place = PostgresLogPlace("a", in: try server.database())
    guard case .unknown(.unavailable(_, let problem)) = place.presence() else {
      Issue.record("\(place.presence())")
      return
    }
    #expect(problem.contains("schema was not created"))
    let database = try server.database()
    try database.createSchema()
    try database.createSchema()
    #expect(place.presence() == .absent)
    try Server.ask("UPDATE \(server.schema).version SET version = 9")
    let fresh = PostgresLogPlace("a", in: try server.database())
    #expect(
      fresh.presence()
        == .unknown(
          .unavailable(
            path: fresh.name, problem: ServerProblem.schemaVersion(found: 9).explanation)
        )
    )
    #expect(throws: PostgresSchemaError.server(database: database.name, .schemaVersion(found: 9))) {
      try database.createSchema()
    }
  }

  @Test("SCL-1 readers see no secret, and no role changes a record")
  func roles() throws {
    let server = try Server()
    let (app, reader) = ("app_\(server.schema)", "reader_\(server.schema)")
    for role in [app, reader] { try Server.ask("CREATE ROLE \(role) LOGIN") }
    try server.database().createSchema(for: .init(sessions: app, readers: reader))
    func database(_ role: String) throws -> PostgresDatabase {
      var options = PostgresDatabase.Options()
      options.schema = server.schema
      return try PostgresDatabase(
        connection: "host=\(Server.socket) dbname=postgres user=\(role)", options: options)
    }
    let place = PostgresLogPlace("a", in: try database(app))
    let log = try place.open { _, _ in }
    try log.append("one")
    try place.secrets.write(.token, [1])
    let seen = PostgresLogPlace("a", in: try database(reader))
    #expect(try texts(seen) == ["one"])
    #expect(throws: SecretStoreError.self) { try seen.secrets.read(.token) }
    let other = try seen.open { _, _ in }
    #expect(throws: TransactionError<Void, Never>.self) { try other.append("two") }
    let change = Statement("UPDATE \(server.schema).records SET payload = ''")
    #expect(throws: ServerProblem.refused(code: "42501")) {
      try place.database.withOwner { slot throws(ServerProblem) in
        try slot.run([change], silence: .seconds(5))
      }
    }
    try Server.ask("DROP OWNED BY \(app), \(reader)")
    try Server.ask("DROP ROLE \(app), \(reader)")
  }

  @Test("SCL-1 a record that was changed, removed or added by hand is found")
  func damage() throws {
    let server = try Server()
    let changes = [
      "UPDATE \(server.schema).records SET payload = 'x' WHERE sequence = 2",
      "DELETE FROM \(server.schema).records WHERE sequence = 2",
      "DELETE FROM \(server.schema).records WHERE sequence = 3",
      "UPDATE \(server.schema).records SET remaining = 1 WHERE sequence = 1",
      "INSERT INTO \(server.schema).records SELECT log, 4, chain, 0, 1, 'x' "
        + "FROM \(server.schema).records WHERE sequence = 3",
    ]
    for (number, change) in changes.enumerated() {
      let place = PostgresLogPlace("log \(number)", in: try server.database())
      let late = try place.open { _, _ in }
      let log = try place.open { _, _ in }
      for text in ["a", "b", "c"] { try log.append(text) }
      try Server.ask(
        change + (change.hasPrefix("INSERT") ? " AND" : " AND")
          + " log = (SELECT log FROM \(server.schema).logs WHERE key = 'log \(number)')")
      var found: JournalError?
      do throws(TransactionError<Void, Never>) { try late.append("d") } catch {
        found = error.journalError
      }
      guard case .damaged? = found else {
        Issue.record("\(change): \(String(describing: found))")
        continue
      }
      if number < 4 {
        #expect(throws: JournalError.self, "\(change)") { try texts(place) }
      }
    }
  }

  @Test("SCL-1 a thousand logs are served by at most the connections of the pool")
  func pool() throws {
    let server = try Server()
    let database = try server.database { $0.connections = 4 }
    let failures = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 1_000) { number in
      do {
        let place = PostgresLogPlace("account-\(number)", in: database)
        let log = try place.open { _, _ in }
        try log.append("one")
        guard try !log.hasNews() else { throw ServerProblem.silent }
      } catch {
        failures.withLock { $0 += 1 }
      }
    }
    #expect(failures.withLock { $0 } == 0)
    #expect(database.openConnections <= 4)
    let rows = try Server.ask("SELECT count(*) FROM \(server.schema).logs")
    #expect(rows.integer(0, 0) == 1_000)
  }

  @Test(
    "SCL-1 a follower wakes after another opening has appended, and at its limit, and when cancelled"
  )
  func follow() async throws {
    let server = try Server()
    let place = PostgresLogPlace("a", in: try server.database())
    let (log, other) = (try place.open { _, _ in }, try place.open { _, _ in })
    let changes = try #require(log.changes())
    #expect(changes.isNotified)
    var start = ContinuousClock.now
    await changes.wait(atMost: .milliseconds(300))
    #expect(.now - start >= .milliseconds(290))
    start = .now
    async let woken: Void = changes.wait(atMost: .seconds(30))
    try await Task.sleep(for: .milliseconds(100))
    try other.append("x")
    await woken
    #expect(.now - start < .seconds(10))
    // What was there before the wait is reported, too.
    await changes.wait(atMost: .seconds(30))
    _ = try log.transact { (_) throws(Never) in ([], ()) }
    start = .now
    let waiting = Task { await changes.wait(atMost: .seconds(30)) }
    try await Task.sleep(for: .milliseconds(50))
    waiting.cancel()
    await waiting.value
    #expect(.now - start < .seconds(10))
  }

  @Test(
    "SCL-1 STO-2 a sealed secret is not in the database in plain, and is valid in its place only")
  func sealed() throws {
    struct Toy: SecretSeal {
      struct Wrong: Error {}
      func seal(_ plain: [UInt8], context: [UInt8]) -> [UInt8] { context + plain.map { $0 ^ 0x5A } }
      func open(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8] {
        guard sealed.starts(with: context) else { throw Wrong() }
        return sealed.dropFirst(context.count).map { $0 ^ 0x5A }
      }
    }
    let server = try Server()
    let database = try server.database()
    let store = PostgresSecrets(key: "a", database: database, seal: Toy())
    try store.write(.token, Array("a secret".utf8))
    #expect(try store.read(.token) == Array("a secret".utf8))
    let raw = try PostgresSecrets(key: "a", database: database).read(.token) ?? []
    #expect(!String(decoding: raw, as: UTF8.self).contains("a secret"))
    try Server.ask("UPDATE \(server.schema).secrets SET key = 'b'")
    let moved = PostgresSecrets(key: "b", database: database, seal: Toy())
    #expect(throws: SecretStoreError.self) { try moved.read(.token) }
    try moved.setAside(.token)
    #expect(try moved.read(.token) == nil)
    try moved.removeSetAside(.token)
    #expect(try Server.ask("SELECT count(*) FROM \(server.schema).secrets").integer(0, 0) == 0)
  }

  @Test("SCL-1 STO-3 no name, description, dump or error contains the password")
  func noPassword() throws {
    try Server.ask("DROP ROLE IF EXISTS guarded")
    try Server.ask("CREATE ROLE guarded LOGIN PASSWORD 'right'")
    defer {
      do { try Server.ask("DROP ROLE guarded") } catch { Issue.record(error) }
    }
    let database = try PostgresDatabase(
      connection: "host=\(Server.socket) dbname=postgres user=guarded password=hunter2")
    let place = PostgresLogPlace("a", in: database)
    var dumped = ""
    dump(place, to: &dumped)
    dump(database, to: &dumped)
    var shown = ["\(place)", "\(database)", place.name, dumped]
    do throws(JournalError) { _ = try place.open { _, _ in } } catch {
      shown.append("\(error)")
      #expect("\(error)".contains("does not accept the user or the password"))
    }
    do throws(SecretStoreError) { _ = try place.secrets.read(.token) } catch {
      shown.append("\(error)")
    }
    for text in shown { #expect(!text.contains("hunter2"), "\(text)") }
    #expect(throws: PostgresConfigurationError.connectionString) {
      try PostgresDatabase(connection: "hunter2 = = 'x")
    }
  }

  @Test("SCL-1 options that cannot work are refused before a connection is made")
  func options() throws {
    func refusal(_ change: (inout PostgresDatabase.Options) -> Void) -> PostgresConfigurationError?
    {
      var options = PostgresDatabase.Options()
      change(&options)
      do throws(PostgresConfigurationError) {
        _ = try PostgresDatabase(connection: "host=/nonexistent", options: options)
        return nil
      } catch {
        return error
      }
    }
    let (second, two) = (Duration.seconds(1), Duration.seconds(2))
    #expect(refusal { $0.connections = 0 } == .connections(0))
    #expect(refusal { $0.schema = "a b" } == .schemaName("a b"))
    for answer in [second, two] {
      let found = refusal { ($0.answerLimit, $0.statementLimit) = (answer, two) }
      #expect(found == .answerLimit(answer, statementLimit: two))
      #expect(found?.description.contains("Choose an answerLimit above the statementLimit") == true)
    }
    #expect(refusal { ($0.answerLimit, $0.statementLimit) = (two, second) } == nil)
  }

  @Test("SCL-1 a server that is away fails fast, and is found again")
  func away() throws {
    let server = try Server()
    let place = PostgresLogPlace("a", in: try server.database())
    let log = try place.open { _, _ in }
    try log.append("one")
    try Server.control("stop", "fast")
    let start = ContinuousClock.now
    for _ in 0..<50 {
      #expect(throws: TransactionError<Void, Never>.self) { try log.append("two") }
      #expect(throws: JournalError.self) { try log.hasNews() }
    }
    #expect(.now - start < .seconds(2))
    try Server.control("start")
    Thread.sleep(forTimeInterval: 0.3)
    try log.append("three")
    #expect(try texts(place) == ["one", "three"])
  }
}
