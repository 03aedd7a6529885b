import Foundation
import SessionJournal
import SessionKit
import Synchronization
import Testing

@testable import PostgresLog

/// The cluster that `Tools/PostgresLog/run` has started, and one schema in it for a test.
struct Server: Sendable {
  let schema: String
  let application: String

  private static let environment = ProcessInfo.processInfo.environment

  /// Creates a schema of its own.
  init(creating: Bool = true) throws {
    let number = UInt32.random(in: .min ... .max)
    (schema, application) = ("test_\(number)", "test-\(number)")
    if creating { try database().createSchema() }
  }

  /// A pool of its own; `onStep` is called at the steps of each commit.
  func database(
    _ change: (inout PostgresDatabase.Options) -> Void = { _ in },
    onStep: @escaping @Sendable (LogStep) -> Void = { _ in }
  ) throws -> PostgresDatabase {
    var options = PostgresDatabase.Options()
    options.schema = schema
    options.followInterval = .milliseconds(50)
    options.idleLimit = .seconds(2)
    change(&options)
    return try PostgresDatabase(
      connection: "\(Self.connection) application_name=\(application)", options: options,
      onStep: onStep)
  }

  static var connection: String { environment["SESSION_POSTGRES"] ?? "host=/nonexistent" }

  /// The folder of the socket.
  static var socket: String {
    connection.split(separator: " ").first { $0.hasPrefix("host=") }
      .map { String($0.dropFirst(5)) } ?? ""
  }

  /// Ends all connections of this test, and waits until the server has ended them.
  func endConnections() {
    do {
      try Self.ask(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
          + "WHERE application_name = '\(application)' AND pid <> pg_backend_pid()")
    } catch {
      Issue.record(error)
    }
  }

  /// Does work, and then makes the database as it was before, as a failover that loses commits.
  func lose(_ work: () async throws -> Void) async throws {
    let tables = ["logs", "records", "secrets"]
    for table in tables {
      try Self.ask("CREATE TABLE \(schema).old_\(table) AS TABLE \(schema).\(table)")
    }
    try await work()
    for table in tables {
      try Self.ask("DELETE FROM \(schema).\(table)")
      // The number of a log is generated, so it must be asked for.
      try Self.ask(
        "INSERT INTO \(schema).\(table) OVERRIDING SYSTEM VALUE "
          + "SELECT * FROM \(schema).old_\(table)")
      try Self.ask("DROP TABLE \(schema).old_\(table)")
    }
  }

  /// Runs a statement as the owner, on a connection of its own.
  @discardableResult
  static func ask(_ sql: String) throws -> Rows {
    let database = try PostgresDatabase(connection: "\(connection) application_name=owner")
    return try database.withOwner { slot throws(ServerProblem) in
      try slot.run([Statement(sql)], silence: .seconds(20))[0]
    }
  }

  /// Starts or stops the server.
  static func control(_ words: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: try #require(environment["SESSION_POSTGRES_SERVER"]))
    process.arguments = words
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  /// Starts a program that was built with the tests.
  func start(_ name: String, _ words: [String], connection: String = connection) throws -> Program {
    let folder = try #require(Self.environment["SESSION_POSTGRES_PROGRAMS"])
    return try Program("\(folder)/\(name)", words, schema: schema, connection: connection)
  }

  /// Runs `sessionreplay` to its end.
  static func replay(_ words: [String]) throws -> (status: Int32, output: String) {
    let program = try Program(
      try #require(environment["SESSION_REPLAY"]), words, schema: "", connection: "")
    return try program.end()
  }
}

/// A process of a test.
final class Program: Sendable {
  private let process: Mutex<Process>
  private let output: Pipe

  init(_ path: String, _ words: [String], schema: String, connection: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = words
    process.environment = [
      "SESSION_POSTGRES": connection, "SESSION_POSTGRES_SCHEMA": schema,
      "POSTGRESLOG_CONNECTION": connection, "PATH": "/usr/bin:/bin",
    ]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    self.output = output
    self.process = Mutex(process)
  }

  /// A process that a failed test has left stopped does not stay.
  deinit {
    process.withLock { process in
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
  }

  var identifier: Int32 { process.withLock { $0.processIdentifier } }

  /// Waits until the process has written something.
  func firstOutput() -> String {
    String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
  }

  /// Waits for the end; returns the exit code or signal, and all output.
  func end() throws -> (status: Int32, output: String) {
    let text = String(
      decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    return process.withLock { process in
      process.waitUntilExit()
      return (process.terminationStatus, text)
    }
  }
}

/// A step at which a test fails once.
final class Trap: Sendable {
  private let armed = Mutex<LogStep?>(nil)
  private let action = Mutex<(@Sendable () -> Void)?>(nil)

  func arm(_ step: LogStep, _ work: @escaping @Sendable () -> Void) {
    action.withLock { $0 = work }
    armed.withLock { $0 = step }
  }

  func met(_ step: LogStep) {
    let isHere = armed.withLock { armed in
      guard armed == step else { return false }
      armed = nil
      return true
    }
    if isHere { action.withLock { $0 }?() }
  }
}

/// A log, as its records' texts.
func texts(_ place: PostgresLogPlace) throws -> [String] {
  var texts: [String] = []
  try place.open { _, payload in
    texts.append(payload.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
  }.close()
  return texts
}

extension JournalDraft {
  static func text(_ text: String) -> JournalDraft {
    JournalDraft(kind: 1, payload: Array(text.utf8))
  }
}

extension PostgresLog {
  @discardableResult
  func append(_ words: String...) throws(TransactionError<Void, Never>) -> JournalTransaction {
    try transact { _ in (words.map { .text($0) }, ()) }.transaction
  }
}
