internal import Foundation
internal import GRDB
internal import SessionJournal

/// Records in an SQLite table with GRDB: a pool, thus in WAL mode, and a prepared statement.
final class Relation {
  /// The values of SQLite's `PRAGMA synchronous`.
  enum Synchronous: Int {
    case normal = 1
    case full = 2
  }

  private let pool: DatabasePool
  private let synchronous: Synchronous

  init(_ path: String, _ synchronous: Synchronous) throws {
    self.synchronous = synchronous
    pool = try DatabasePool(path: path)
    try pool.writeWithoutTransaction { database in
      // The pool sets NORMAL when it opens, so this must come after it.
      try database.execute(sql: "PRAGMA synchronous = \(synchronous.rawValue)")
      try database.execute(
        sql: "CREATE TABLE record (sequence INTEGER PRIMARY KEY, kind INTEGER, payload BLOB)")
    }
    try verify()
  }

  /// Throws unless mode and durability are as expected.
  func verify() throws {
    try pool.writeWithoutTransaction { database in
      let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode")
      let found = try Int.fetchOne(database, sql: "PRAGMA synchronous")
      guard mode == "wal", found == synchronous.rawValue else {
        throw Problem("SQLite has journal_mode \(mode ?? "?"), synchronous \(found ?? -1)")
      }
    }
  }

  /// Returns a draft as parameters of SQLite.
  static func row(_ draft: JournalDraft) -> Row {
    Row(kind: Int(draft.kind), payload: Data(draft.payload))
  }

  struct Row {
    let kind: Int
    let payload: Data
  }

  /// Inserts rows in one transaction.
  func insert(_ rows: [Row]) throws {
    try pool.writeInTransaction { database in
      let statement = try database.cachedStatement(
        sql: "INSERT INTO record (kind, payload) VALUES (?, ?)")
      for row in rows {
        try statement.execute(arguments: [row.kind, row.payload])
      }
      return .commit
    }
  }
}
