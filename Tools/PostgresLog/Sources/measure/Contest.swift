import Foundation
import PostgresLog
import SessionJournal
import SessionKit

/// Commits per second of each kind, with a number of clients that each have a thread.
struct Contest {
  /// As many bytes as a token with its claims; others each time, as after a refresh.
  private static func newSecret() -> [UInt8] {
    let part = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    return (0..<32).flatMap { _ in part }
  }

  private let database: PostgresDatabase
  private let clients: Int
  private let name: String

  init(_ database: PostgresDatabase, clients: Int, round: Int) {
    (self.database, self.clients) = (database, clients)
    name = "\(round)-\(clients)"
  }

  /// Appends a record, and stores a secret in the same commit if there is a store.
  static func append(_ log: some SessionLog, _ secrets: (any SecretStore)? = nil)
    throws(TransactionError<Void, SecretStoreError>)
  {
    _ = try log.transact { (_) throws(SecretStoreError) in
      try secrets?.write(.token, newSecret())
      return ([JournalDraft(kind: 1, payload: Measure.payload)], ())
    }
  }

  func run(_ table: inout RateTable) throws {
    func add(_ kind: String, _ work: @escaping @Sendable (Int) throws -> Void) {
      table.add(rate(clients, work), kind, clients)
    }
    let insert = "INSERT INTO measure.plain (payload) VALUES ($1::bytea)"
    add("INSERT") { [database] _ in _ = try database.raw([(insert, Measure.payload)]) }
    let places = (0..<clients).map { PostgresLogPlace("\(name)-\($0)", in: database) }
    let logs = try places.map { try $0.open { _, _ in } }
    add("logs") { client in try Self.append(logs[client]) }
    add("logs with secrets") { client in try Self.append(logs[client], places[client].secrets) }
    let shared = PostgresLogPlace("\(name)-shared", in: database)
    let openings = try (0..<clients).map { _ in try shared.open { _, _ in } }
    add("one log") { client in try Self.append(openings[client]) }
    add("INSERT with NOTIFY") { [database] _ in
      _ = try database.raw([
        ("BEGIN", nil), (insert, Measure.payload), ("SELECT pg_notify('measure', '1')", nil),
        ("COMMIT", nil),
      ])
    }
    try files(add)
  }

  private func files(_ add: (String, @escaping @Sendable (Int) throws -> Void) -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let journals = try (0..<clients).map {
      try Journal.open(at: folder.appending(path: "\($0).journal").path)
    }
    let stores = (0..<clients).map { FileSecretStore(folder: folder.appending(path: "\($0)").path) }
    add("file journals") { client in try Self.append(journals[client]) }
    add("file journals with secrets") { client in
      try Self.append(journals[client], stores[client])
    }
    for journal in journals { try journal.close() }
    try FileManager.default.removeItem(at: folder)
  }
}

/// The rates of all rounds, by kind and number of clients.
struct RateTable {
  private var kinds: [String] = []
  private var rates: [Int: [String: [Int]]] = [:]

  mutating func add(_ rate: Int, _ kind: String, _ clients: Int) {
    if !kinds.contains(kind) { kinds.append(kind) }
    rates[clients, default: [:]][kind, default: []].append(rate)
  }

  /// A table of medians; the lowest and the highest round are in parentheses.
  var text: String {
    var lines = [
      "| clients | " + kinds.joined(separator: " | ") + " |",
      "| --- |" + String(repeating: " --- |", count: kinds.count),
    ]
    for clients in rates.keys.sorted() {
      let cells = kinds.map { kind in
        let sorted = (rates[clients]?[kind] ?? []).sorted()
        guard let low = sorted.first, let high = sorted.last else { return "–" }
        return "\(sorted[sorted.count / 2]) (\(low)–\(high))"
      }
      lines.append("| \(clients) | " + cells.joined(separator: " | ") + " |")
    }
    return lines.joined(separator: "\n")
  }
}
