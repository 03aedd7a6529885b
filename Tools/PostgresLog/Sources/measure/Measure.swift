import Foundation
import PostgresLog
import SessionJournal
import SessionKit
import Synchronization

/// Measures the figures of `Specs/Scale.md` on the server of SESSION_POSTGRES.
@main
enum Measure {
  static let rounds = 5
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
    var table = RateTable()
    for round in 1...rounds {
      for clients in [1, 4, 16, 32] {
        try Contest(database, clients: clients, round: round).run(&table)
      }
    }
    print(table.text)
    try size(database)
    try asking(database)
    print("load of the machine at the end: \(load)")
  }

  private static func size(_ database: PostgresDatabase) throws {
    for withSecret in [false, true] {
      let place = PostgresLogPlace("size \(withSecret)", in: database)
      let log = try place.open { _, _ in }
      let before = try position(database)
      for _ in 0..<2_000 { try Contest.append(log, withSecret ? place.secrets : nil) }
      let bytes = (try position(database) - before) / 2_000
      print("write-ahead log, bytes per commit\(withSecret ? " with a secret" : ""): \(bytes)")
    }
    for (name, rows) in [("records", "records"), ("logs", "logs")] {
      let count = try database.raw([("SELECT count(*) FROM measure.\(rows)", nil)])
      _ = try database.raw([("VACUUM FULL measure.\(name)", nil)])
      let table = try database.raw([("SELECT pg_table_size('measure.\(name)')", nil)])
      let index = try database.raw([("SELECT pg_indexes_size('measure.\(name)')", nil)])
      print("bytes per row of \(name): table \(table / count), indexes \(index / count)")
    }
    let updates = try database.raw([
      (
        "SELECT (1000 * n_tup_hot_upd / greatest(n_tup_upd, 1))::bigint "
          + "FROM pg_stat_user_tables WHERE schemaname = 'measure' AND relname = 'logs'", nil
      )
    ])
    print("updates of a log's row that touch no index: \(Double(updates) / 10) %")
  }

  /// How many bytes the server has written to its write-ahead log.
  private static func position(_ database: PostgresDatabase) throws -> Int64 {
    try database.raw([("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint", nil)])
  }

  private static func asking(_ database: PostgresDatabase) throws {
    let log = try PostgresLogPlace("size false", in: database).open { _, _ in }
    for clients in [1, 16] {
      print("hasNews, \(clients) clients: \(rate(clients) { _ in _ = try log.hasNews() })/s")
    }
    let places = (1...10_000).map { PostgresLogPlace("many-\($0)", in: database) }
    for place in places { try place.open { _, _ in }.close() }
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
      try places[Int.random(in: places.indices)].open { _, _ in }.close()
    }
    print("opening and closing, 4 clients: \(opening)/s")
  }

  /// The load that Linux reports: of 1, 5 and 15 minutes.
  private static var load: String {
    String(decoding: FileManager.default.contents(atPath: "/proc/loadavg") ?? Data(), as: UTF8.self)
      .split(separator: " ").prefix(3).joined(separator: " ")
  }
}

/// How often all threads together complete `work` in a second.
func rate(_ clients: Int, _ work: @escaping @Sendable (Int) throws -> Void) -> Int {
  let seconds = 2.0
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

private func isBusy(_ error: any Error) -> Bool {
  switch error {
  case JournalError.busy: true
  case TransactionError<Void, SecretStoreError>.unavailable(.busy),
    TransactionError<Void, SecretStoreError>.appendFailed(.busy, value: _):
    true
  default: false
  }
}
