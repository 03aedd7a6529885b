import Foundation
import PostgresLog
import SessionJournal
import Synchronization

/// Measures the figures of `Specs/Scale.md` on the server of SESSION_POSTGRES.
@main
enum Measure {
  static let seconds = 2.0
  static let payload = [UInt8](repeating: 0x61, count: 96)

  static func main() throws {
    let connection = ProcessInfo.processInfo.environment["SESSION_POSTGRES"] ?? ""
    var options = PostgresDatabase.Options()
    options.connections = 64
    options.schema = "measure"
    let database = try PostgresDatabase(connection: connection, options: options)
    try database.createSchema()
    _ = try database.raw([
      ("CREATE TABLE measure.plain (n bigint GENERATED ALWAYS AS IDENTITY, payload bytea)", nil)
    ])
    for round in 1...3 {
      print("round \(round)")
      for clients in [1, 4, 16, 32] { try turn(clients, round, database) }
    }
    try size(database)
    try asking(database)
  }

  /// Measures commits per second of each kind with a number of clients.
  private static func turn(_ clients: Int, _ round: Int, _ database: PostgresDatabase) throws {
    let raw = rate(clients) { _ in
      _ = try database.raw([
        ("INSERT INTO measure.plain (payload) VALUES ($1::bytea)", payload)
      ])
    }
    let logs = try (0..<clients).map {
      try PostgresLogPlace("\(round)-\(clients)-\($0)", in: database).open { _, _ in }
    }
    let log = rate(clients) { client in try append(logs[client]) }
    let notified = rate(clients) { client in
      _ = try database.raw([
        ("BEGIN", nil), ("INSERT INTO measure.plain (payload) VALUES ($1::bytea)", payload),
        ("SELECT pg_notify('measure', '1')", nil), ("COMMIT", nil),
      ])
    }
    let shared = PostgresLogPlace("\(round)-\(clients)-shared", in: database)
    let openings = try (0..<clients).map { _ in try shared.open { _, _ in } }
    let busy = Mutex(0)
    let one = rate(clients) { client in
      while true {
        do throws(TransactionError<Void, Never>) {
          return try append(openings[client])
        } catch {
          guard case .unavailable(.busy) = error else { throw error }
          busy.withLock { $0 += 1 }
        }
      }
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let journals = try (0..<clients).map {
      try Journal.open(at: folder.appending(path: "\($0).journal").path)
    }
    let file = rate(clients) { client in try append(journals[client]) }
    for journal in journals { try journal.close() }
    try FileManager.default.removeItem(at: folder)
    print(
      "clients \(clients): raw INSERT+COMMIT \(raw)/s, log \(log)/s (\(ratio(log, raw)) of raw), "
        + "one log \(one)/s (busy \(busy.withLock { $0 })), raw with NOTIFY \(notified)/s, "
        + "file journals \(file)/s")
  }

  private static func append(_ log: some SessionLog) throws(TransactionError<Void, Never>) {
    _ = try log.transact { _ in ([JournalDraft(kind: 1, payload: payload)], ()) }
  }

  private static func size(_ database: PostgresDatabase) throws {
    let before = try database.raw([
      ("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint", nil)
    ])
    let log = try PostgresLogPlace("size", in: database).open { _, _ in }
    for _ in 0..<2_000 { try append(log) }
    let after = try database.raw([
      ("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint", nil)
    ])
    let records = try database.raw([("SELECT count(*) FROM measure.records", nil)])
    _ = try database.raw([("VACUUM measure.records", nil)])
    let table = try database.raw([("SELECT pg_table_size('measure.records')", nil)])
    let index = try database.raw([("SELECT pg_indexes_size('measure.records')", nil)])
    print(
      "bytes per record of \(payload.count) bytes: table \(table / records), index "
        + "\(index / records), WAL \((after - before) / 2_000)")
  }

  private static func asking(_ database: PostgresDatabase) throws {
    let log = try PostgresLogPlace("size", in: database).open { _, _ in }
    print("hasNews, 1 client: \(rate(1) { _ in _ = try log.hasNews() })/s")
    print("hasNews, 16 clients: \(rate(16) { _ in _ = try log.hasNews() })/s")
    _ = try database.raw([
      (
        "INSERT INTO measure.logs (key, identifier, record_size) "
          + "SELECT 'many-' || n, gen_random_uuid(), 1048576 FROM generate_series(1, 10000) n", nil
      )
    ])
    let start = ContinuousClock.now
    for _ in 0..<20 {
      _ = try database.raw([
        (
          "SELECT count(*) FROM (SELECT last_sequence FROM measure.logs WHERE log = ANY("
            + "ARRAY(SELECT log FROM measure.logs WHERE key LIKE 'many-%'))) x", nil
        )
      ])
    }
    print("a poll of 10,000 logs: \((ContinuousClock.now - start) / 20)")
    let opening = rate(4) { _ in
      try PostgresLogPlace("many-\(Int.random(in: 1...10_000))", in: database).open { _, _ in }
        .close()
    }
    print("opening and closing, 4 clients: \(opening)/s")
  }

  /// How often all threads together complete `work` in a second.
  private static func rate(_ clients: Int, _ work: @escaping @Sendable (Int) throws -> Void) -> Int
  {
    let count = Mutex(0)
    let end = ContinuousClock.now + .seconds(seconds)
    let group = DispatchGroup()
    for client in 0..<clients {
      group.enter()
      Thread.detachNewThread {
        var done = 0
        do {
          while ContinuousClock.now < end {
            // A lock was held for too long, be it a row or the end of a table. Sessions try again, too.
            do { try work(client) } catch  where isBusy(error) { continue }
            done += 1
          }
        } catch {
          print("client \(client): \(error)")
        }
        count.withLock { $0 += done }
        group.leave()
      }
    }
    group.wait()
    return Int(Double(count.withLock { $0 }) / seconds)
  }

  private static func isBusy(_ error: any Error) -> Bool {
    switch error {
    case JournalError.busy: true
    case let error as TransactionError<Void, Never>:
      if case .busy = error.journalError { true } else { false }
    default: false
    }
  }

  private static func ratio(_ part: Int, _ whole: Int) -> String {
    String(format: "%.2f", Double(part) / Double(max(1, whole)))
  }
}
