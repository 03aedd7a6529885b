import FileBackend
import Foundation
import PostgresLog
import SessionCore
import SessionJournal
import SessionKit
import SessionTestKit

/// One process of a test.
///
/// - `count KEY TIMES` appends numbers, as the checks of logs demand.
/// - `die KEY STEP` appends a batch with a secret, and kills itself at the step.
/// - `freeze KEY STEP` stops itself at the step, and says so before.
/// - `token KEY FILE` opens a session, and prints the number of its token after it is valid.
///
/// The server is that of SESSION_POSTGRES, the schema that of SESSION_POSTGRES_SCHEMA.
@main
enum LogWorker {
  static func main() async {
    do {
      try await run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ words: [String]) async throws {
    guard words.count == 3 else { exit(64) }
    switch words[0] {
    case "count":
      let place = PostgresLogPlace(words[1], in: try database())
      try LogChecks.countUp(at: place, times: Int(words[2]) ?? 0)
    case "die": try end(words[1], at: words[2], by: SIGKILL)
    case "freeze": try end(words[1], at: words[2], by: SIGSTOP)
    case "token": try await token(words[1], server: words[2])
    default: exit(64)
    }
  }

  private static func end(_ key: String, at step: String, by signal: Int32) throws {
    let place = PostgresLogPlace(
      key,
      in: try database { met in
        guard met.rawValue == step else { return }
        FileHandle.standardOutput.write(Data("\(step)\n".utf8))
        // To this thread: it does not take a step more.
        raise(signal)
      })
    let log = try place.open { _, _ in }
    _ = try log.transact { (_) throws(SecretStoreError) in
      try place.secrets.write(.token, Array("new".utf8))
      return (
        [JournalDraft(kind: 1, payload: [1]), JournalDraft(kind: 1, payload: [2])], ()
      )
    }
    try log.close()
    FileHandle.standardOutput.write(Data("done\n".utf8))
  }

  private static func token(_ key: String, server file: String) async throws {
    let place = PostgresLogPlace(key, in: try database())
    let session = try await Session.open(
      SessionConfiguration(
        log: place, backend: FileBackend(path: file), secrets: place.secrets))
    let token = try await session.accessToken()
    print("\(token.generation.number)")
    try await session.close()
  }

  private static func database(onStep: @escaping @Sendable (LogStep) -> Void = { _ in }) throws
    -> PostgresDatabase
  {
    let environment = ProcessInfo.processInfo.environment
    var options = PostgresDatabase.Options()
    options.connections = 2
    options.idleLimit = .seconds(2)
    options.schema = environment["SESSION_POSTGRES_SCHEMA"] ?? options.schema
    return try PostgresDatabase(
      connection: environment["SESSION_POSTGRES"] ?? "", options: options, onStep: onStep)
  }
}
